package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is an account without rights when the test runs as root, who may read
// and write everything; nil otherwise. dir is a folder that everybody may use.
func nobody(t *testing.T, dir string) *account {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	binary := filepath.Join(dir, "codesage")
	if err := os.Link(program(t), binary); err != nil {
		data, err := os.ReadFile(program(t))
		if err == nil {
			err = os.WriteFile(binary, data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &account{user: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}, binary: binary, dir: dir}
}

// openTemp is a temporary folder that every user may use.
func openTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "codesage-open-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAnUnreadableFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := openTemp(t)
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o000); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	s := &server{t: t, binary: program(t), data: filepath.Join(dir, "data"), as: nobody(t, dir)}
	s.start()
	got := s.command("add", locked)
	if lines := got.faults(); got.code != exitFailed || len(lines) != 1 || !strings.Contains(lines[0], locked) || !strings.Contains(lines[0], "read") {
		t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
	}
	if list := must[listResult](t, s, "list_repositories", nil); len(list.Repositories) != 0 {
		t.Errorf("something was added: %v", list)
	}
}

func TestADataFolderThatCantBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	dir, as := openTemp(t), nobody(t, openTemp(t))
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{dir, filepath.Join(dir, "new")} {
		got := command{args: []string{"serve"}, as: as, env: settings{"CODESAGE_PORT=0", "CODESAGE_DATA_DIR=" + data}}.run(t)
		lines := got.faults()
		if got.code != exitFailed || len(lines) != 1 || !strings.Contains(lines[0], dir) || !strings.HasSuffix(lines[0], "; set CODESAGE_DATA_DIR to a folder that can be written") {
			t.Errorf("%s: exit code %d, %q", data, got.code, lines)
		}
	}
}

func TestAnUnreadableFileIsCounted(t *testing.T) {
	t.Parallel()
	dir := openTemp(t)
	folder := filepath.Join(dir, "tree")
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n", "b.go": "package b\n"})
	if err := os.Chmod(filepath.Join(folder, "b.go"), 0o000); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, binary: program(t), data: filepath.Join(dir, "data"), as: nobody(t, dir)}
	s.start()
	repo, _ := s.index(folder, "partial")
	if repo.ErrorMessage != "Partially indexed: 1 of 2 files (unreadable: 1)" {
		t.Errorf("message %q", repo.ErrorMessage)
	}
}
