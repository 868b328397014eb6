package sessions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/pipeline"
	"codesage/pipeline/source"
	"codesage/pipeline/source/folder"
	"codesage/tools"
	"codesage/tools/sessions"
)

// repository reads a session's row.
func (h *house) repository(session string) codesage.Repository {
	h.t.Helper()
	repo, err := h.store.RepositoryBySession(h.t.Context(), session)
	if err != nil {
		h.t.Fatal(err)
	}
	return repo
}

func TestIndexAnswersAfterTheTextPass(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	held, release := h.queue.holdAt(codesage.PhaseSymbols)
	defer release()
	text, f := h.try(t.Context(), "index_repository", args{"path": root, "session": "fx"})
	if f != nil {
		t.Fatal(f)
	}
	<-held
	like(t, text, indexedFX)
	if repo := h.repository("fx"); repo.Published != nil || repo.TextRun == 0 {
		t.Errorf("published %v, text run %d; want only the text", repo.Published, repo.TextRun)
	}
	if got := h.call("find_references", args{"symbol": "authenticate", "session": "fx"}); !strings.Contains(got, "(5 found)") || strings.Contains(got, "Definition") {
		t.Errorf("before the symbols: %s", got)
	}
	h.refused(-32602, "Session 'fx' already exists...", "index_repository", args{"path": root, "session": "fx"})
	release()
	h.settle()
	if got := h.call("find_references", args{"symbol": "authenticate", "session": "fx"}); !strings.Contains(got, "- **Definition:** yes\n") {
		t.Errorf("after the symbols: %s", got)
	}
}

func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	_, release := h.queue.holdAt(codesage.PhaseText)
	var told []string
	ctx := tools.WithProgress(t.Context(), func(done, total int, message string) {
		told = append(told, fmt.Sprintf("%d/%d %s", done, total, message))
		release() // the run goes on when its caller knows how many files there are
	})
	if _, f := h.try(ctx, "index_repository", args{"path": root, "session": "fx"}); f != nil {
		t.Fatal(f)
	}
	if len(told) < 2 || told[0] != "0/5 Indexing session 'fx' (0 of 5 files)" || !strings.HasPrefix(told[len(told)-1], "5/5 Index") {
		t.Errorf("told %q", told)
	}
}

func TestReindexSupersedesASymbolPass(t *testing.T) {
	t.Parallel()
	for _, call := range []struct {
		name string
		a    args
	}{
		{"reindex_session", args{"session": "fx", "chunk_size": 100, "overlap": 20}},
		{"index_repository", args{"session": "fx", "force": true, "chunk_size": 100, "overlap": 20}},
		{"delete_session", args{"session": "fx", "confirm": true}},
	} {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			h, root := newHouse(t), fixture(t)
			held, release := h.queue.holdAt(codesage.PhaseSymbols)
			defer release()
			h.call("index_repository", args{"path": root, "session": "fx"})
			<-held
			created := h.repository("fx").CreatedAt
			first := h.repository("fx").Latest.ID
			if call.name == "index_repository" {
				call.a["path"] = root
			}
			h.queue.mu.Lock()
			h.queue.gate = "" // only the first run is held
			h.queue.mu.Unlock()
			h.call(call.name, call.a)
			h.settle()
			if call.name == "delete_session" {
				h.refused(-32001, "Session not found: fx", "get_session_info", args{"session": "fx"})
				return
			}
			repo := h.repository("fx")
			if repo.Published == nil || repo.Published.ID == first || !repo.CreatedAt.Equal(created) {
				t.Errorf("published %+v, created %v, want a later run than %d and %v", repo.Published, repo.CreatedAt, first, created)
			}
			run, err := h.store.Run(t.Context(), first)
			if err != nil || run.Status != codesage.StatusFailed {
				t.Errorf("the first run: %v %v, want it superseded", run.Status, err)
			}
			if got := h.call("preview_chunk", args{"session": "fx", "file_path": "src/auth.go", "chunk_index": 2}); !strings.Contains(got, "2 of 3") {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestATextPassIsNotDisturbed(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	held, release := h.queue.holdAt(codesage.PhaseText)
	defer release()
	answers := make(chan *fault, 1)
	go func() {
		_, f := h.try(t.Context(), "index_repository", args{"path": root, "session": "fx"})
		answers <- f
	}()
	<-held
	const busy = "Indexing already in progress for session 'fx'"
	h.refused(-32603, busy, "index_repository", args{"path": root, "session": "fx"})
	h.refused(-32603, busy, "index_repository", args{"path": root, "session": "fx", "force": true})
	h.refused(-32603, busy, "reindex_session", args{"session": "fx", "force": true})
	h.refused(-32603, busy, "delete_session", args{"session": "fx", "confirm": true})
	h.refused(-32600, "Session 'fx' is being indexed for the first time...", "search_code", args{"query": "x", "session": "fx"})
	if got := h.call("list_sessions", nil); !strings.HasSuffix(got, "\nIndexing 1 session(s): fx") {
		t.Errorf("got %s", got)
	}
	release()
	if f := <-answers; f != nil {
		t.Error(f)
	}
}

func TestTheRunGoesOnWithoutItsCaller(t *testing.T) {
	t.Parallel()
	const left = "Indexing of session 'fx' is not finished..."
	h := newHouse(t, func(d *sessions.Deps) { d.Wait = 50 * time.Millisecond })
	root := fixture(t)
	held, release := h.queue.holdAt(codesage.PhaseText)
	defer release()
	h.refused(-32603, left, "index_repository", args{"path": root, "session": "fx"}) // its time is over
	<-held
	release()
	h.settle()
	if repo := h.repository("fx"); repo.Published == nil {
		t.Fatalf("not published: %s", repo.ErrorMessage())
	}
	held, release = h.queue.holdAt(codesage.PhaseText)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-held; cancel() }() // its client leaves
	if _, f := h.try(ctx, "reindex_session", args{"session": "fx", "force": true}); f == nil || !strings.HasPrefix(f.message, strings.TrimSuffix(left, "...")) {
		t.Errorf("got %v", f)
	}
	before := h.repository("fx").Published.ID
	release()
	h.settle()
	if h.repository("fx").Published.ID == before {
		t.Error("the second run was not published")
	}
}

func TestAFailedReindexLosesNothing(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	broken := true
	var mu sync.Mutex
	real := h.pipeline.Sources[codesage.SourceFolder]
	h.pipeline.Sources[codesage.SourceFolder] = fetcher(func(ctx context.Context, repo codesage.Repository) (source.Checkout, error) {
		mu.Lock()
		defer mu.Unlock()
		if broken {
			return nil, codesage.Errorf(codesage.KindUnavailable, "the disk is on fire")
		}
		return real.Fetch(ctx, repo)
	})
	info := h.call("get_session_info", args{"session": "fx"})
	h.refused(-32603, "Re-indexing failed: the disk is on fire", "reindex_session", args{"session": "fx", "chunk_size": 200})
	other := tree(t, map[string]string{"other.go": "package other\n"})
	h.refused(-32603, "Indexing failed: the disk is on fire", "index_repository", args{"path": other, "session": "fx", "force": true})
	now := h.call("get_session_info", args{"session": "fx"})
	if without(now, "- **Notice:**") != info {
		t.Errorf("got %s\nwant %s", now, info)
	}
	if paths, _ := hits(t, root, h.call("search_code", args{"query": "login", "session": "fx"})); len(paths) != 2 {
		t.Errorf("found %v", paths)
	}
	mu.Lock()
	broken = false
	mu.Unlock()
	h.call("reindex_session", args{"session": "fx", "chunk_size": 200})
}

// without leaves out the line that begins with a text.
func without(text, start string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, start) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// fetcher is a source made of a function.
type fetcher func(context.Context, codesage.Repository) (source.Checkout, error)

func (f fetcher) Fetch(ctx context.Context, repo codesage.Repository) (source.Checkout, error) {
	return f(ctx, repo)
}

func TestForceTakesAnotherFolder(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	other := tree(t, map[string]string{"other.go": "package other\n\nfunc login() {}\n"})
	h.refused(-32602, "Session 'fx' already exists...", "index_repository", args{"path": other, "session": "fx"})
	created := h.repository("fx").CreatedAt
	h.call("index_repository", args{"path": other, "session": "fx", "force": true})
	paths, _ := hits(t, other, h.call("search_code", args{"query": "login", "session": "fx"}))
	if len(paths) != 1 || paths[0] != "other.go" {
		t.Errorf("found %v, want other.go; nothing of %s", paths, root)
	}
	if got := h.repository("fx").CreatedAt; !got.Equal(created) {
		t.Errorf("created at %v, want %v", got, created)
	}
}

func TestTwoIndexingsAtOnceMakeOneSession(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	faults := make(chan *fault, 4)
	for range cap(faults) {
		go func() {
			_, f := h.try(t.Context(), "index_repository", args{"path": root, "session": "fx"})
			faults <- f
		}()
	}
	done := 0
	for range cap(faults) {
		switch f := <-faults; {
		case f == nil:
			done++
		case f.message != "Indexing already in progress for session 'fx'" && !strings.HasPrefix(f.message, "Session 'fx' already exists."):
			t.Error(f)
		}
	}
	h.settle()
	if got := h.call("list_sessions", nil); done == 0 || !strings.HasPrefix(got, "Available sessions (1):") || !strings.Contains(got, "**Files:** 5\n") {
		t.Errorf("%d done: %s", done, got)
	}
}

func TestAFolderThatVanishesOrEmptiesDuringTheRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := tree(t, map[string]string{"a.go": "package a\n"})
	held, release := h.queue.holdAt(codesage.PhaseText)
	answers := make(chan *fault, 1)
	go func() {
		_, f := h.try(t.Context(), "index_repository", args{"path": root, "session": "v"})
		answers <- f
	}()
	<-held
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	release()
	if f := <-answers; f != nil && f.code != -32603 {
		t.Error(f)
	}
	h.settle()
	empty := tree(t, nil)
	like(t, h.call("index_repository", args{"path": empty, "session": "e"}), "Indexing complete!\n\n**Session:** e\n**Files indexed:** 0\n**Chunks created:** 0\n"+
		"**Duration:** <s>s\n\nYou can now search your code with search_code.")
	like(t, h.call("list_dir", args{"session": "e"}), "**Session:** e\n**Files:** 0 (showing 0)\n\nNo files found in this session.")
	like(t, h.call("search_code", args{"query": "NOT x", "session": "e"}), "Found 0 results for query 'NOT x' (<ms>ms):\n\nNo results found. Try different keywords or check session name.")
}

func TestWalkingTellsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := tree(t, map[string]string{"a.go": "package a\n", ".dot.go": "package d\n", "empty.txt": "", "bad.bin": "\xff\xfe\x00\x41",
		".hid/x.go": "package x\n", "node_modules/n.js": "x\n", "build/o.txt": "y\n"})
	if err := os.Symlink("a.go", filepath.Join(root, "link.go")); err != nil {
		t.Fatal(err)
	}
	like(t, h.call("index_repository", args{"path": root, "session": "g"}), "Indexing complete!\n\n**Session:** g\n**Files indexed:** 3\n**Chunks created:** 2\n"+
		"**Duration:** <s>s\n**Files skipped:** 2\n- bad.bin: binary\n- link.go: symlink\n\nYou can now search your code with search_code.")
	like(t, h.call("read_file", args{"session": "g", "file_path": "empty.txt"}), "**File:** `"+root+"/empty.txt`\n**Session:** `g`\n**Size:** 0 B (0 lines)\n**Language:** text\n\n```\n```")
	if got := h.call("list_dir", args{"session": "g"}); !strings.Contains(got, "**Files:** 2 (showing 2)") || !strings.Contains(got, ".dot.go") {
		t.Errorf("got %s", got)
	}
}

func TestUpgradeRebuildsAnOldSession(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	oldest := codesage.RunID(0)
	h := newHouse(t, func(d *sessions.Deps) {
		d.Schema = func(r codesage.Repository) int {
			mu.Lock()
			defer mu.Unlock()
			if r.TextRun <= oldest {
				return 2
			}
			return 3
		}
	})
	root := fixture(t)
	h.call("index_repository", args{"path": root, "session": "fx"})
	h.settle()
	const current = "Session 'fx' is already at schema v3 (current version). No upgrade needed."
	if got := h.call("upgrade_session", args{"session": "fx"}); got != current {
		t.Errorf("got %q", got)
	}
	mu.Lock()
	oldest = h.repository("fx").TextRun
	mu.Unlock()
	for name, a := range calls {
		switch name {
		case "search_code", "list_dir", "find_file", "find_references", "preview_chunk", "read_file":
			h.refused(-32602, "Invalid session: Session 'fx' uses schema v2 but current version is v3.\nRepository path: "+root+
				"\nRe-index to upgrade: use upgrade_session tool or index_repository with force=true.", name, a)
		}
	}
	if got := h.call("list_sessions", nil); !strings.Contains(got, "- **Schema:** v2 (outdated, re-index required)\n") {
		t.Errorf("got %s", got)
	}
	like(t, h.call("upgrade_session", args{"session": "fx"}), "# Session Upgraded: `fx`\n\n**Schema Migration:**\n- Previous version: v2\n- Current version: v3\n\n"+
		"**Indexing Statistics:**\n- Files indexed: 5\n- Chunks created: 5\n- Index size: <size>\n- Duration: <s>s\n- Throughput: <n> files/sec\n\nSession is now compatible with the current schema.")
	if got := h.call("upgrade_session", args{"session": "fx"}); got != current {
		t.Errorf("got %q", got)
	}
}

func TestGitRepositoriesAreSessionsToo(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	files := folder.New(folder.Options{})
	h.pipeline.Limits[codesage.SourceGit] = pipeline.Limits{Generated: true}
	h.pipeline.Sources[codesage.SourceGit] = fetcher(func(ctx context.Context, repo codesage.Repository) (source.Checkout, error) {
		repo.Path = root // stands for a clone
		return files.Fetch(ctx, repo)
	})
	repo, run, err := h.store.CreateRepository(t.Context(), codesage.Repository{Name: "octo/demo", Session: "octo-demo",
		Source: codesage.SourceGit, URL: "https://github.com/octo/demo"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.queue.Enqueue(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	h.settle()
	if err := os.RemoveAll(root); err != nil { // texts come from the store
		t.Fatal(err)
	}
	paths, _ := hits(t, "", h.call("search_code", args{"query": "login", "session": "octo-demo"}))
	if strings.Join(paths, " ") != "docs/guide.md src/login.go" {
		t.Errorf("found %v", paths)
	}
	if got := h.call("read_file", args{"session": "octo-demo", "file_path": "docs/guide.md"}); !strings.HasPrefix(got, "**File:** `docs/guide.md`\n") || strings.Contains(got, "Note") {
		t.Errorf("got %s", got)
	}
	if got := h.call("get_session_info", args{"session": "octo-demo"}); !strings.Contains(got, "- **Repository Path:** https://github.com/octo/demo\n") {
		t.Errorf("got %s", got)
	}
	if got := h.call("find_references", args{"session": "octo-demo", "symbol": "authenticate"}); !strings.Contains(got, "(5 found)") || !strings.Contains(got, "#### src/login.go:6\n") {
		t.Errorf("got %s", got)
	}
	if got := h.call("find_file", args{"session": "octo-demo", "pattern": "src/*.go"}); !strings.Contains(got, "**Matches:** 2 of 5 total files\n\n**Matched Files:**\n- `src/auth.go`\n- `src/login.go`") {
		t.Errorf("got %s", got)
	}
	other := fixture(t)
	h.refused(-32602, "Session 'octo-demo' is the git repository octo/demo; choose another session id", "index_repository", args{"path": other, "session": "octo-demo", "force": true})
	root = other
	if got := h.call("reindex_session", args{"session": "octo-demo"}); !strings.HasPrefix(got, "# Session Re-Indexed: `octo-demo`\n") {
		t.Errorf("got %s", got)
	}
	h.refused(-32600, "Session 'octo-demo' is a git repository...", "reindex_session", args{"session": "octo-demo", "chunk_size": 200})
	h.call("delete_session", args{"session": "octo-demo", "confirm": true})
	if _, err := h.store.Repository(t.Context(), repo.ID); codesage.KindOf(err) != codesage.KindNotFound {
		t.Errorf("after delete_session: %v", err)
	}
}
