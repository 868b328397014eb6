package sessions_test

import (
	"os"
	"strings"
	"testing"

	"codesage"
)

func TestAFolderThatVanishesDuringAReindexLeavesTheOldIndex(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		phase  codesage.Phase
		vanish func(root string) error
		want   string
	}{
		{"deleted before it is listed", codesage.PhaseList, os.RemoveAll, "Re-indexing failed: ..."},
		{"deleted before it is read", codesage.PhaseText, os.RemoveAll, "Re-indexing failed: The folder vanished while it was indexed: <root>"},
		{"deleted before it is published", codesage.PhasePublish, os.RemoveAll, "Re-indexing failed: The folder vanished while it was indexed: <root>"},
		{"moved away", codesage.PhaseText, func(root string) error { return os.Rename(root, root+"-moved") },
			"Re-indexing failed: The folder vanished while it was indexed: <root>"},
		{"replaced", codesage.PhaseText, func(root string) error {
			if err := os.RemoveAll(root); err != nil {
				return err
			}
			return os.Mkdir(root, 0o755)
		}, "Re-indexing failed: Another folder took the place of this one while it was indexed: <root>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h, root := indexed(t)
			t.Cleanup(func() { _ = os.RemoveAll(root + "-moved") })
			before := h.repository("fx").Published.ID
			write(t, root, "src/new.go", "package auth\n")
			held, release := h.queue.holdAt(tc.phase)
			defer release()
			go func() {
				<-held
				if err := tc.vanish(root); err != nil {
					t.Error(err)
				}
				release()
			}()
			h.refused(-32603, strings.ReplaceAll(tc.want, "<root>", root), "reindex_session", args{"session": "fx", "force": true})
			h.settle()
			if repo := h.repository("fx"); repo.Published.ID != before || repo.TextRun != before {
				t.Errorf("published %d, text %d, want %d", repo.Published.ID, repo.TextRun, before)
			}
			if got := h.call("search_code", args{"query": "login", "session": "fx"}); !strings.Contains(got, root+"/src/login.go") {
				t.Errorf("search_code: %s", got)
			}
			if got := h.call("list_dir", args{"session": "fx"}); !strings.Contains(got, "**Files:** 5 ") {
				t.Errorf("list_dir: %s", got)
			}
		})
	}
}

func TestAFileThatIsDeletedDuringTheRunIsGone(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	write(t, root, "src/login.go", "package auth\n\n// Login is new.\n")
	write(t, root, "src/late.go", "package auth\n")
	held, release := h.queue.holdAt(codesage.PhaseText)
	defer release()
	go func() {
		<-held
		_ = os.Remove(root + "/src/login.go")
		_ = os.Remove(root + "/src/late.go")
		release()
	}()
	if got := h.call("reindex_session", args{"session": "fx", "force": true}); !strings.Contains(got, "- Files indexed: 4\n") || strings.Contains(got, "skipped") {
		t.Errorf("got %s", got)
	}
	h.settle()
	if repo := h.repository("fx"); repo.Published.Notice != "" || len(repo.Published.Skipped) > 0 || repo.Published.TotalFiles != 4 {
		t.Errorf("published %+v", repo.Published)
	}
}
