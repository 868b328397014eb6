//go:build darwin || linux

package local

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"codesage"
	"codesage/search"
)

// childEnv holds what a child process of the tests writes: attempt and folder.
const childEnv = "LOCAL_TEST_CHILD"

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if err := writeAsTold(what); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeAsTold makes an attempt at run 2 of repository 1 on top of run 1, says
// that it has begun, and commits when it is told to.
func writeAsTold(what string) error {
	var attempt int
	var dir string
	if _, err := fmt.Sscanf(what, "%d %s", &attempt, &dir); err != nil {
		return err
	}
	x, err := Open(dir, Options{Budget: 1})
	if err != nil {
		return err
	}
	ctx := context.Background()
	w, err := x.Begin(ctx, codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2, Attempt: attempt})
	if err != nil {
		return err
	}
	for n := range 3 { // parts on the disk, and a segment
		r := search.Record{EntityType: codesage.EntityFunction, EntityName: fmt.Sprintf("loadChild%d", n), Language: "go", LineStart: 1, LineEnd: 2}
		if err := w.Put(ctx, []string{"a.go", "a.go", "b.go"}[n], 0, []search.Record{r}); err != nil {
			return err
		}
	}
	fmt.Println("begun")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	err = w.Commit(ctx)
	w.Abort()
	fmt.Println("committed", err)
	return x.Close()
}

// A child is a process that writes.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

func startChild(t *testing.T, x *Index, attempt int) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0])}
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", childEnv, attempt, x.dir))
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	c.says("begun\n")
	return c
}

func (c *child) says(want string) {
	c.t.Helper()
	if got, err := c.out.ReadString('\n'); got != want {
		c.t.Fatalf("the child says %q, %v, want %q", got, err, want)
	}
}

// signal sends a signal and waits until the process has stopped or ended by it.
func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
	switch s {
	case syscall.SIGKILL:
		_ = c.cmd.Wait()
	case syscall.SIGSTOP:
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			c.t.Fatalf("stop the child: %v, %v", status, err)
		}
	}
}

func (c *child) commit() {
	c.t.Helper()
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		c.t.Fatal(err)
	}
	c.says("committed <nil>\n")
}

func TestRetainTellsTheDeadFromTheLiving(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	clean := len(left(t, x))
	keep := map[codesage.RepositoryID][]codesage.RunID{1: {1, 2}}

	dead := startChild(t, x, 1)
	with := len(left(t, x))
	if with <= clean {
		t.Fatal("a writer leaves no trace: the test looks in the wrong place")
	}
	retain(t, x, keep)
	if got := left(t, x); len(got) != with {
		t.Errorf("beside a living writer %q are left, want %d files", got, with)
	}
	dead.signal(syscall.SIGKILL)
	retain(t, x, keep)
	if got := left(t, x); len(got) != clean {
		t.Errorf("after its death %q are left, want %d files", got, clean)
	}
	wantNames(t, x, one, "loadOne")
}

// A process stands still in the middle of a run. Another attempt goes on at once,
// is published and swept around; the first wakes up and commits.
func TestAFrozenWriterHoldsUpNobody(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	frozen := startChild(t, x, 1)
	frozen.signal(syscall.SIGSTOP)

	w := beginAttempt(t, x, 1, codesage.Run{ID: 2, Attempt: 2})
	putName(t, w, "a.go", "loadTwo")
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	keep := map[codesage.RepositoryID][]codesage.RunID{1: {2}}
	retain(t, x, keep)
	wantNames(t, x, two, "loadOne", "loadTwo")

	frozen.signal(syscall.SIGCONT)
	frozen.commit()
	if err := frozen.cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, reader := range []*Index{x, openAgain(t, x, Options{})} {
		wantNames(t, reader, two, "loadOne", "loadTwo")
	}
	retain(t, x, keep)
	if got := left(t, x); len(got) > 3 {
		t.Errorf("%q are left, want a manifest and its segments", got)
	}
	wantNames(t, openAgain(t, x, Options{}), two, "loadOne", "loadTwo")
}

// A repository is deleted while a process that writes to it stands still.
func TestTheFolderOfARemovedRepositoryOutlivesAFrozenWriter(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	frozen := startChild(t, x, 1)
	frozen.signal(syscall.SIGSTOP)
	retain(t, x, nil)
	frozen.signal(syscall.SIGCONT)
	frozen.commit() // its base is merged into its own segment
	retain(t, x, nil)
	if got := files(t, x, ""); len(got) != 1 {
		t.Errorf("%q are left, want an empty folder", got)
	}
}
