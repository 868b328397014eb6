package parse

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// spareMemory is the private writable memory that a child may add to what it
// starts with: about what a text of MaxFileBytes needs with one token for every
// two bytes. With the program's own pages a child stays below 200 MB.
const spareMemory = 160 << 20

// limitMemory limits this process. That the limit can't be set on some system
// is no reason not to parse: it is a net below the limit on the file size.
func limitMemory() {
	if base := memory("VmData:"); base > 0 {
		limit := base + spareMemory
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
	}
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

// residentMemory returns the bytes of memory that this process has in use.
func residentMemory() uint64 { return memory("VmRSS:") }

// memory returns one size from this process's status, or 0.
func memory(name string) uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "\n"+name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseUint(fields[0], 10, 64)
	return kilobytes << 10
}

// bindToParent lets the kernel kill the child when the thread that starts it
// ends: see starter.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// self is the running program, also after its file was replaced.
func self() (string, error) {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
