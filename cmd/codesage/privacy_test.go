//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder that was there before keeps its rights; what is made in it is for
// the server's user alone.
func TestWhatAServerMakesIsForItsUserAlone(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	s := serverAt(t, data, "CODESAGE_API_KEY=")
	folder := t.TempDir()
	newTree(9, 20, 1).write(t, folder)
	s.index(folder, "private")
	if out := (command{args: []string{"backup", filepath.Join(data, "copy.db")}, env: settings{"CODESAGE_DATA_DIR=" + data}}).run(t); out.code != exitOK {
		t.Errorf("backup: %s", out.stderr)
	}
	seen := map[string]bool{}
	if err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == data {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen[d.Name()] = true
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"codesage.db", "codesage.db-wal", "copy.db", "index", "tmp", "lock"} {
		if !seen[name] {
			t.Errorf("%s was not looked at", name)
		}
	}
	if n := strings.Count(s.log.text(), "can be entered by other users"); n != 1 {
		t.Errorf("the folder's rights were told %d times", n)
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	s.stop()
	if fresh := newServer(t); strings.Contains(fresh.log.text(), "can be entered") {
		t.Error("a folder of the server's own is told as open")
	}
}
