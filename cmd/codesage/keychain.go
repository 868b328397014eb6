package main

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// keychainPassword asks the macOS Keychain for the password of a user of the
// service "codesage"; empty elsewhere and when there is none.
func keychainPassword(user string) string {
	if runtime.GOOS != "darwin" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/bin/security", "find-generic-password", "-a", user, "-s", "codesage", "-w").Output()
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(out), "\n")
}
