//go:build unix

package sessions_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"codesage"
)

func TestResultsSayThatTheirFileChanged(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	const note = "**Note:** file changed since indexing; re-index to refresh.\n"
	search := func() string { return h.call("search_code", args{"query": "login", "session": "fx"}) }
	if got := search(); strings.Contains(got, "Note") {
		t.Errorf("nothing changed: %s", got)
	}
	data, err := os.ReadFile(filepath.Join(root, "src/login.go"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "src/login.go", strings.Replace(string(data), "Login", "Logon", 1)) // of the same size
	if got := search(); strings.Count(got, note) != 1 || !strings.Contains(got, "**Lines:** 1-9\n"+note) || strings.Contains(got, "Logon") {
		t.Errorf("got %s", got)
	}
	if got := h.call("preview_chunk", args{"session": "fx", "file_path": "src/login.go", "chunk_index": 0}); !strings.Contains(got, "total)\n"+note+"\n```go\n") {
		t.Errorf("got %s", got)
	}
	write(t, root, "src/login.go", string(data)) // another time, the same text
	if got := search(); strings.Contains(got, "Note") {
		t.Errorf("the text is as it was: %s", got)
	}
	remove(t, root, "src/login.go")
	if err := syscall.Mkfifo(filepath.Join(root, "src/login.go"), 0o600); err != nil {
		t.Skip(err)
	}
	if got := h.call("read_file", args{"session": "fx", "file_path": "src/login.go"}); !strings.Contains(got, note) { // and does not hang
		t.Errorf("got %s", got)
	}
}

func TestAFileThatWasAFolderIsGone(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	if err := os.RemoveAll(filepath.Join(root, "docs")); err != nil {
		t.Fatal(err)
	}
	write(t, root, "docs", "a file now")
	h.refused(-32600, "File not found: "+root+"/docs/guide.md...", "read_file", args{"session": "fx", "file_path": "docs/guide.md"})
	h.refused(-32600, "File not found: "+root+"/docs/guide.md. May have been deleted or moved since indexing. Try re-indexing the session.",
		"preview_chunk", args{"session": "fx", "file_path": "docs/guide.md", "chunk_index": 0})
	if err := os.Rename(root, root+"-moved"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root + "-moved") })
	h.refused(-32600, "File not found: "+root+"/routes.yaml...", "read_file", args{"session": "fx", "file_path": "routes.yaml"})
	got := h.call("find_references", args{"session": "fx", "symbol": "authenticate"})
	if !strings.HasPrefix(got, "No references found for `authenticate`") || !strings.HasSuffix(got, "\n- Skipped: 4 files missing on disk") {
		t.Errorf("the folder moved away as a whole: %s", got)
	}
	write(t, filepath.Dir(root), filepath.Base(root), "a file now")
	h.refused(-32600, "File not found: "+root+"/routes.yaml...", "read_file", args{"session": "fx", "file_path": "routes.yaml"})
}

func TestAFileBehindALinkIsGone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, to string }{{"outside", ""}, {"inside", "elsewhere"}, {"itself", "src"}, {"nowhere", "nothing"}} {
		h, root := indexed(t)
		to, file := tc.to, "elsewhere/none"
		switch to {
		case "":
			to = t.TempDir()
		case "elsewhere":
			file = "elsewhere/auth.go"
		}
		write(t, root, file, "package auth\n")
		if err := os.Rename(filepath.Join(root, "src"), filepath.Join(root, "elsewhere", "src")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(root, "src")); err != nil {
			t.Fatal(err)
		}
		h.refused(-32600, "File not found: "+root+"/src/auth.go...", "read_file", args{"session": "fx", "file_path": "src/auth.go"})
		if got := h.call("find_references", args{"session": "fx", "symbol": "authenticate"}); !strings.Contains(got, "(2 found)") ||
			!strings.Contains(got, "- Skipped: 2 files missing on disk\n") {
			t.Errorf("%s: got %s", tc.name, got)
		}
		if got := h.call("search_code", args{"session": "fx", "query": "verify"}); strings.Count(got, "**Note:** file changed since indexing; re-index to refresh.\n") != 1 {
			t.Errorf("%s: got %s", tc.name, got)
		}
	}
}

func TestAFolderThatChangesAndFillsDuringTheRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := tree(t, map[string]string{"a.go": "package a\n", "gone.go": "package gone\n"})
	held, release := h.queue.holdAt(codesage.PhaseText)
	answers := make(chan *fault, 1)
	go func() {
		_, f := h.try(t.Context(), "index_repository", args{"path": root, "session": "s"})
		answers <- f
	}()
	<-held
	write(t, root, "a.go", "package a\n\nfunc Later() {}\n")
	write(t, root, "b.go", "package a\n\nfunc New() {}\n")
	remove(t, root, "gone.go")
	release()
	if f := <-answers; f != nil {
		t.Fatal(f)
	}
	h.settle()
	h.call("reindex_session", args{"session": "s", "force": true})
	for q, want := range map[string]string{"Later": "a.go", "New": "b.go", "gone": ""} {
		if paths, _ := hits(t, root, h.call("search_code", args{"session": "s", "query": q})); strings.Join(paths, " ") != want {
			t.Errorf("%s: found %v, want %q", q, paths, want)
		}
	}
}
