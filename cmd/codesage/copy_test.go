package main

import (
	"os"
	"path/filepath"
	"testing"
)

// copyOf returns a copy of a folder that no process uses.
func copyOf(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
