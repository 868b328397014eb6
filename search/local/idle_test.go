package local

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"codesage"
)

// openRuns is how many runs an index has open, and how many folders it knows.
func openRuns(x *Index) (runs, folders int) {
	x.mu.Lock()
	list := make([]*folder, 0, len(x.folders))
	for _, f := range x.folders {
		list = append(list, f)
	}
	x.mu.Unlock()
	for _, f := range list {
		f.mu.Lock()
		runs += len(f.open)
		f.mu.Unlock()
	}
	return runs, len(list)
}

// mapped is how many of an index's files this process has mapped, or -1 where the
// system does not say.
func mapped(t *testing.T, x *Index) (n int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return -1
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(maps), x.dir)
}

// await waits for a condition that other goroutines bring about.
func await(t *testing.T, what string, isTrue func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !isTrue(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// A process that only reads never sweeps.
func TestAReaderLetsGoOfWhatAnotherProcessRemoved(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{"reader": {}, "read only": {ReadOnly: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writer := openTest(t, Options{})
			put(t, writer, 0, one, "loadOne")
			reader, err := Open(writer.dir, o)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			if n := hits(t, reader, "load", one); n != 1 {
				t.Fatalf("%d hits, want 1", n)
			}
			if err := writer.Retain(t.Context(), keeping(nil)); err != nil {
				t.Fatal(err)
			}
			if n := mapped(t, reader); n == 0 {
				t.Error("nothing is mapped before: the test sees nothing")
			}
			await(t, "the folder is forgotten", func() bool {
				reader.closeIdle(time.Now())
				_, folders := openRuns(reader)
				return folders == 0
			})
			if n := mapped(t, reader); n > 0 {
				t.Errorf("%d files are still mapped", n)
			}
		})
	}
}

func TestRunsThatNobodyReadsAreClosed(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{Idle: time.Millisecond})
	put(t, x, 0, one, "loadOne")
	for range 2 {
		if n := hits(t, x, "load", one); n != 1 {
			t.Errorf("%d hits, want 1", n)
		}
		await(t, "the run is closed", func() bool {
			runs, _ := openRuns(x)
			return runs == 0
		})
		if n := mapped(t, x); n > 0 {
			t.Errorf("%d files are still mapped", n)
		}
	}
	if _, folders := openRuns(x); folders == 0 {
		t.Error("the folder of a repository that is there is forgotten")
	}
}

func TestRunsThatAreReadStayOpen(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	put(t, x, 1, two, "loadTwo")
	began := time.Now()
	held, err := x.acquire(t.Context(), one, Entities, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	hits(t, x, "load", two)
	await(t, "the checksums are verified", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return !x.checking
	})
	x.closeIdle(began)
	if runs, _ := openRuns(x); runs != 2 {
		t.Errorf("%d runs are open, want the one in use and the one used since", runs)
	}
	await(t, "the run that nobody reads is closed", func() bool {
		x.closeIdle(time.Now())
		runs, _ := openRuns(x)
		return runs == 1
	})
	if held.gone {
		t.Error("the run in use is closed")
	}
	held.release()
}

// A process remembers which files it need not verify while they may be read, and no
// longer: refreshes make new ones for years, and another process may sweep.
func TestChecksumsOfFilesThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	sweeper := openAgain(t, x, Options{})
	put(t, x, 0, one, "load0", "load1")
	const runs = 50
	for run := codesage.RunID(2); run <= runs; run++ {
		put(t, x, run-1, codesage.Snapshot{Repository: 1, Run: run}, fmt.Sprintf("load%d", run))
		retain(t, sweeper, map[codesage.RepositoryID][]codesage.RunID{1: {run}})
	}
	f, err := x.folder(1, Entities)
	if err != nil {
		t.Fatal(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(f.trusted); n == 0 || n > runs/2 {
		t.Errorf("%d files are remembered after %d runs", n, runs)
	}
}
