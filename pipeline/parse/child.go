package parse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// When an idle child is replaced by a fresh one.
const (
	recycleResident = 110 << 20 // bytes: what a large file may still add stays below 200 MB
	recycleFiles    = 20_000
	recycleBytes    = 1 << 30
)

// child is one parse process. One goroutine at a time uses it.
type child struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	errors   *tail
	files    int
	bytes    int
	resident uint64
}

// childMark is set in the environment of a parse process, which must not start
// any itself: a program that does not know the command may be one that parses.
const childMark = "CODESAGE_PARSE_WORKER"

// startChild starts a process and waits for its hello. The caller's thread must
// outlive the process.
func startChild(argv []string) (*child, error) {
	if os.Getenv(childMark) != "" {
		return nil, errors.New("a parse process can't start parse processes")
	}
	c := &child{cmd: exec.Command(argv[0], argv[1:]...), errors: &tail{}}
	// Nothing else of the environment: a process that foreign input may take over
	// gets no keys. One thread of Go code, since many share a machine.
	c.cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=single", childMark + "=1"}
	c.cmd.Stderr = c.errors
	c.cmd.WaitDelay = time.Second
	bindToParent(c.cmd)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	c.out = bufio.NewReaderSize(out, 64<<10)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return c, nil
}

// greet reads the child's hello.
func (c *child) greet(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	got, err := readFrame(c.out, maxHello)
	if err != nil || !bytes.Equal(got, hello) {
		c.kill()
		_ = c.wait()
		return fmt.Errorf("the parse process is not this program's parser: %q", c.errors.text())
	}
	return nil
}

// ask sends one file and reads the answer. When ctx ends first the child is
// killed. After an error the child must not be used again.
func (c *child) ask(ctx context.Context, q request) (*answer, error) {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	c.files++
	c.bytes += len(q.text)
	if err := writeFrame(c.in, q.encode()); err != nil {
		return nil, err
	}
	body, err := readFrame(c.out, maxAnswer)
	if err != nil {
		return nil, err
	}
	a, err := decodeAnswer(body, len(q.text))
	if err != nil {
		return nil, err
	}
	c.resident = a.resident
	return a, nil
}

// worn reports whether the child should be replaced.
func (c *child) worn() bool {
	return c.resident > recycleResident || c.files >= recycleFiles || c.bytes >= recycleBytes
}

func (c *child) kill() { _ = c.cmd.Process.Kill() }

// end closes the child's input, at which it exits, and waits for that. One that
// does not exit is killed.
func (c *child) end() {
	_ = c.in.Close()
	timer := time.AfterFunc(2*time.Second, c.kill)
	defer timer.Stop()
	_ = c.wait()
}

// wait waits for the end of the process and returns how it ended.
func (c *child) wait() string {
	err := c.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.String()
	}
	if err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// errMemory says that a file needs more memory than a parse process may have.
var errMemory = errors.New("out of memory")

// cause says why a process died: of err, as the parent saw it, and by what it
// wrote last. The C heap and Go's name a lack of memory in these words.
func (c *child) cause(err error, status string) error {
	text := c.errors.text()
	if strings.Contains(text, "failed to allocate") || strings.Contains(text, "out of memory") {
		return errMemory
	}
	first, rest, _ := strings.Cut(text, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	return fmt.Errorf("%w, %s: %s %s", err, status, first, second)
}

// tail keeps the first bytes that a child writes to its standard error: a crash
// says what it is in its first lines.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const maxTail = 1_024

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[:min(len(p), maxTail-len(t.kept))]...)
	return len(p), nil
}

// text returns the first lines.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "\uFFFD")
}
