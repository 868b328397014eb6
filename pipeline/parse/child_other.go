//go:build !linux

package parse

import (
	"os"
	"os/exec"
)

func limitMemory() {}

func residentMemory() uint64 { return 0 }

// bindToParent does nothing here: a child ends when its input does.
func bindToParent(*exec.Cmd) {}

func self() (string, error) { return os.Executable() }
