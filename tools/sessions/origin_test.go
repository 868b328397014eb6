package sessions_test

import (
	"context"
	"strings"
	"testing"

	"codesage"
	"codesage/catalog"
)

// answersAs checks that the session fx answers with the fixture below its own
// root, and with the chunk sizes that it was indexed with.
func (h *house) answersAs(root string) {
	h.t.Helper()
	if paths, _ := hits(h.t, root, h.call("search_code", args{"query": "login", "session": "fx"})); strings.Join(paths, " ") != "docs/guide.md src/login.go" {
		h.t.Errorf("search_code found %q", paths)
	}
	if got := h.call("read_file", args{"session": "fx", "file_path": root + "/docs/guide.md"}); !strings.Contains(got, "authenticate before Login") || strings.Contains(got, "not found") {
		h.t.Errorf("read_file: %s", got)
	}
	if got := h.call("find_references", args{"symbol": "authenticate", "session": "fx"}); !strings.Contains(got, "(5 found)") || strings.Contains(got, "not found") {
		h.t.Errorf("find_references: %s", got)
	}
	info := h.call("get_session_info", args{"session": "fx"})
	for _, want := range []string{"- **Repository Path:** " + root + "\n", "- **Chunk size:** 512 chars\n", "- **Overlap:** 64 chars\n"} {
		if !strings.Contains(info, want) {
			h.t.Errorf("get_session_info lacks %q: %s", want, info)
		}
	}
}

// leave calls a tool whose client goes away as soon as the run is held.
func (h *house) leave(held <-chan struct{}, name string, a args) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	go func() { <-held; cancel() }()
	if _, f := h.try(ctx, name, a); f == nil || !strings.HasPrefix(f.message, "Indexing of session 'fx' is not finished") {
		h.t.Fatalf("got %v", f)
	}
}

func TestDuringARunFromAnotherFolderTheOldIndexAnswersWithItsOwnPaths(t *testing.T) {
	t.Parallel()
	for _, phase := range []codesage.Phase{codesage.PhaseFetch, codesage.PhaseText, codesage.PhaseSymbols, codesage.PhasePublish} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			h, root := indexed(t)
			other := tree(t, map[string]string{"src/other.go": "package other\n\nfunc login() {}\n"})
			held, release := h.queue.holdAt(phase)
			defer release()
			answers := make(chan *fault, 1)
			go func() {
				_, f := h.try(t.Context(), "index_repository", args{"path": other, "session": "fx", "force": true, "chunk_size": 100, "overlap": 20})
				answers <- f
			}()
			<-held
			h.answersAs(root)
			release()
			if f := <-answers; f != nil {
				t.Fatal(f)
			}
			if paths, _ := hits(t, other, h.call("search_code", args{"query": "login", "session": "fx"})); strings.Join(paths, " ") != "src/other.go" {
				t.Errorf("found %q", paths)
			}
			if o := h.repository("fx").Options; o.ChunkSize != 100 || o.Overlap != 20 {
				t.Errorf("options %+v", o)
			}
		})
	}
}

func TestARunThatFailsWithNobodyWaitingLeavesPathAndOptions(t *testing.T) {
	t.Parallel()
	other := tree(t, map[string]string{"other.go": "package other\n"})
	cancel := func(h *house) error {
		_, err := h.catalog.Cancel(h.t.Context(), h.repository("fx").ID)
		return err
	}
	for _, tc := range []struct {
		name  string
		begin func(h *house, held <-chan struct{})
		end   func(h *house) error
	}{
		{"the client of index_repository is gone, and the run is cancelled", func(h *house, held <-chan struct{}) {
			h.leave(held, "index_repository", args{"path": other, "session": "fx", "force": true, "chunk_size": 100, "overlap": 20})
		}, cancel},
		{"the client of reindex_session is gone, and the run is cancelled", func(h *house, held <-chan struct{}) {
			h.leave(held, "reindex_session", args{"session": "fx", "chunk_size": 100, "overlap": 20})
		}, cancel},
		{"POST /folders, and the run is cancelled", func(h *house, held <-chan struct{}) {
			_, _, err := h.catalog.AddFolder(h.t.Context(), catalog.FolderRequest{Path: other, Session: "fx", Force: true,
				Options: codesage.IndexOptions{ChunkSize: 100, Overlap: 20}})
			if err != nil {
				h.t.Fatal(err)
			}
			<-held
		}, cancel},
		{"the process was killed, and the next attempt fails", func(h *house, held <-chan struct{}) {
			h.leave(held, "index_repository", args{"path": other, "session": "fx", "force": true})
		}, func(h *house) error {
			id := h.repository("fx").Latest.ID
			run, err := h.store.StartRun(h.t.Context(), id, 0) // the heart of the dead is silent
			if err != nil {
				return err
			}
			if run.Path != other {
				h.t.Errorf("the next attempt reads %s, want %s", run.Path, other)
			}
			return h.store.FailRun(h.t.Context(), run, codesage.Progress{}, "the disk is on fire")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h, root := indexed(t)
			held, release := h.queue.holdAt(codesage.PhaseText)
			defer release()
			tc.begin(h, held)
			h.answersAs(root)
			if err := tc.end(h); err != nil {
				t.Fatal(err)
			}
			release()
			h.settle()
			h.answersAs(root)
			h.call("reindex_session", args{"session": "fx", "force": true})
			h.settle()
			h.answersAs(root)
		})
	}
}
