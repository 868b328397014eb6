//go:build !unix

package postgrestest

import (
	"errors"
	"os/exec"
)

// asOrdinaryUser knows no way on this system.
func asOrdinaryUser(*exec.Cmd, string) error { return errors.New("not on this system") }
