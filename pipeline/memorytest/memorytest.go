// Package memorytest measures what the cases of a test take of memory.
package memorytest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// caseVariable names the case that a child process runs.
const caseVariable = "CODESAGE_TEST_MEMORY_CASE"

// Run runs each case in a process of its own, which is this test alone, and fails
// when one fails or its process took more than so many bytes at any time.
func Run[Case any](t *testing.T, most int64, cases map[string]Case, run func(t *testing.T, c Case)) {
	t.Helper()
	if name := os.Getenv(caseVariable); name != "" {
		run(t, cases[name])
		fmt.Printf("peak=%d \n", peak(t))
		return
	}
	switch {
	case runtime.GOOS != "linux":
		t.Skip("the peak is read from /proc")
	case testing.Short():
		t.Skip("takes long")
	case raceEnabled:
		t.Skip("the race detector multiplies memory")
	}
	for name := range cases {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), caseVariable+"="+name)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		_, figure, _ := strings.Cut(string(out), "peak=")
		took, err := strconv.ParseInt(strings.Fields(figure + " ?")[0], 10, 64)
		if err != nil || took > most {
			t.Errorf("%s: peak of %d MB, %v", name, took>>20, err)
		}
		t.Logf("%-18s peak %d MB", name, took>>20)
	}
}

// peak reads the highest resident size of this process.
func peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
