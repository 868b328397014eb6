package worker_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/pipeline/source/git/gittest"
)

// sources makes n Go files.
func sources(n int) map[string]gittest.Change {
	files := map[string]gittest.Change{"README.md": {Data: "# Title\n"}, "logo.png": {Data: "\x89PNG\x00"}}
	for i := range n {
		files[fmt.Sprintf("p%d/f.go", i)] = gittest.Change{Data: fmt.Sprintf("package p%d\n\nimport \"fmt\"\n\n// F%d greets.\nfunc F%d() { fmt.Println(%d) }\n", i, i, i, i)}
	}
	return files
}

func TestHitsLinkToTheIndexedCommit(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{})
	for _, tc := range []struct{ host, path, want string }{
		{"github.com", "octo/demo", "https://github.com/octo/demo/blob/%s/a%%20b/f%%23.go#L3-L3"},
		{"gitlab.com", "group/sub/demo", "https://gitlab.com/group/sub/demo/-/blob/%s/a%%20b/f%%23.go#L3-3"},
		{"bitbucket.org", "team/demo", "https://bitbucket.org/team/demo/src/%s/a%%20b/f%%23.go#lines-3:3"},
		{"code.example.org", "o/r", ""},
	} {
		remote := h.hosts.Repo(tc.host, tc.path)
		commit := remote.Commit("main", gittest.Files(map[string]string{"a b/f#.go": "package p\n\nfunc Unique() {}\n"}))
		id := h.indexed(remote.URL())
		remote.Commit("main", gittest.Files(map[string]string{"a b/f#.go": "package p\n"}))
		result, failure := h.call("search_code", map[string]any{"query": "Unique", "repository": fmt.Sprint(id)})
		var found struct {
			Results []struct {
				URL *string `json:"url"`
			}
		}
		if err := json.Unmarshal(result, &found); err != nil || len(found.Results) != 1 {
			t.Errorf("%s: %s %s", tc.host, result, failure)
			continue
		}
		got := ""
		if u := found.Results[0].URL; u != nil {
			got = *u
		}
		want := tc.want
		if want != "" {
			want = fmt.Sprintf(want, commit)
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", tc.host, got, want)
		}
	}
}

func TestTwoAddsOfOneURLAtTheSameMoment(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{paused: true})
	h.hosts.Repo("gitlab.com", "octo/demo").Commit("main", sources(1))
	var mu sync.Mutex
	var wg sync.WaitGroup
	answers := map[string]int{}
	note := func(s string) { mu.Lock(); defer mu.Unlock(); answers[s]++ }
	for i := range 12 {
		url := "https://gitlab.com/octo/demo"
		if i%3 == 0 {
			url = "git@GitLab.com:octo/demo.git"
		}
		wg.Go(func() {
			if i%2 == 0 {
				_, failure := h.call("add_repository", map[string]any{"url": url})
				note(failure)
				return
			}
			if status, detail := h.post(url, ""); status == http.StatusCreated {
				note("")
			} else {
				note(detail)
			}
		})
	}
	wg.Wait()
	if answers[""] != 1 || answers["gitlab.com/octo/demo is already added as repository 1."] != 11 {
		t.Errorf("%v", answers)
	}
	h.start()
	h.ended(1)
	if runs := h.runs(1); len(runs) != 1 || runs[0].Status != codesage.StatusCompleted {
		t.Errorf("%d runs, the newest %s", len(runs), runs[0].Status)
	}
}

// TestADeleteDuringARunLeavesNothing deletes a repository while its run is in
// each of its phases, first a first run and then a refresh.
func TestADeleteDuringARunLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, phase := range []codesage.Phase{codesage.PhaseFetch, codesage.PhaseList, codesage.PhaseText, codesage.PhaseSymbols, codesage.PhasePublish} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, settings{})
			remote := h.hosts.Repo("code.example.org", "o/r")
			remote.Commit("main", sources(30))
			added := make(chan struct{})
			deleted := h.deleteAt(phase, added)
			h.add(remote.URL())
			close(added)
			<-deleted
			h.until("nothing is left of a first run", func() bool { return len(h.leftovers()) == 0 })

			id := h.indexed(remote.URL())
			remote.Commit("main", gittest.Files(map[string]string{"new.go": "package n\n", "p1/f.go": "package p1\n\nfunc New() {}\n"}))
			deleted = h.deleteAt(phase, added)
			h.ask("POST", fmt.Sprintf("/api/v1/repositories/%d/reprocess", id), "")
			<-deleted
			h.until("nothing is left of a refresh", func() bool { return len(h.leftovers()) == 0 })
		})
	}
}

// deleteAt deletes the repository of the next run that enters a phase, once it is
// known to have been added, and closes the channel then.
func (h *house) deleteAt(phase codesage.Phase, added <-chan struct{}) <-chan struct{} {
	deleted := make(chan struct{})
	h.gate.at(phase, func(run codesage.Run) {
		defer close(deleted)
		select {
		case <-added:
		case <-h.t.Context().Done():
			return
		}
		if status, body := h.ask("DELETE", fmt.Sprintf("/api/v1/repositories/%d", run.Repository), ""); status != http.StatusNoContent {
			h.t.Errorf("delete: %d %s", status, body)
		}
	})
	return deleted
}

func TestADeleteWhileTheHostStallsLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{})
	h.hosts.Handle("stall.example.org", gittest.StalledPack())
	id := h.add("https://stall.example.org/o/r")
	h.until("the pack is being fetched", func() bool {
		for _, r := range h.hosts.Requests() {
			if strings.HasSuffix(r.Path, "git-upload-pack") {
				return true
			}
		}
		return false
	})
	began := time.Now()
	if status, _ := h.ask("DELETE", fmt.Sprintf("/api/v1/repositories/%d", id), ""); status != http.StatusNoContent {
		t.Errorf("delete: %d", status)
	}
	h.until("nothing is left", func() bool { return len(h.leftovers()) == 0 })
	if took := time.Since(began); took > patience/2 {
		t.Errorf("a delete during a clone took %s", took)
	}
}

func TestADeleteOfAnIdleRepositoryRemovesItsIndexSoon(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{})
	remote := h.hosts.Repo("code.example.org", "o/r")
	remote.Commit("main", sources(3))
	id := h.indexed(remote.URL())
	if len(h.leftovers()) == 0 {
		t.Fatal("an indexed repository leaves no trace: the test looks in the wrong place")
	}
	h.ask("DELETE", fmt.Sprintf("/api/v1/repositories/%d", id), "")
	h.until("nothing is left", func() bool { return len(h.leftovers()) == 0 })
}

func TestARunOfADeadWorkerIsTakenUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{paused: true})
	remote := h.hosts.Repo("code.example.org", "o/r")
	remote.Commit("main", sources(3))
	id := h.add(remote.URL())
	if _, err := h.store.StartRun(t.Context(), h.repository(id).Latest.ID, 0); err != nil {
		t.Fatal(err) // a worker takes it up and is never heard of again
	}
	h.start()
	h.ended(id)
	if repo := h.repository(id); repo.Status() != codesage.StatusCompleted || repo.Latest.Attempt != 2 {
		t.Errorf("%s, attempt %d", repo.Status(), repo.Latest.Attempt)
	}
}

func TestAnAddAfterAFailureNamesTheRepository(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{})
	remote := h.hosts.Repo("code.example.org", "o/r")
	remote.Commit("main", sources(3))
	h.hosts.Handle("code.example.org", gittest.Pack(remote.Head("main"), []byte("PACK nonsense")))
	id := h.add(remote.URL())
	h.ended(id)
	repo := h.repository(id)
	if repo.Status() != codesage.StatusFailed || repo.ErrorMessage() != "code.example.org sent a broken copy of code.example.org/o/r; try again." {
		t.Errorf("%s: %s", repo.Status(), repo.ErrorMessage())
	}
	if _, failure := h.call("add_repository", map[string]any{"url": remote.URL()}); failure != fmt.Sprintf("code.example.org/o/r is already added as repository %d.", id) {
		t.Errorf("second add: %s", failure)
	}
	h.hosts.Handle("code.example.org", nil)
	if status, body := h.ask("POST", fmt.Sprintf("/api/v1/repositories/%d/reprocess", id), ""); status != http.StatusAccepted {
		t.Errorf("reprocess: %d %s", status, body)
	}
	h.ended(id)
	if repo := h.repository(id); repo.Status() != codesage.StatusCompleted || repo.CommitSHA() != remote.Head("main") {
		t.Errorf("%s at %s", repo.Status(), repo.CommitSHA())
	}
}

func TestAnAddAfterADeleteWhileItWaitsRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{paused: true})
	remote := h.hosts.Repo("code.example.org", "o/r")
	remote.Commit("main", sources(3))
	first := h.add(remote.URL())
	if status, _ := h.ask("DELETE", fmt.Sprintf("/api/v1/repositories/%d", first), ""); status != http.StatusNoContent {
		t.Errorf("delete: %d", status)
	}
	second := h.add(remote.URL())
	h.start()
	h.ended(second)
	if repo := h.repository(second); first == second || repo.Status() != codesage.StatusCompleted {
		t.Errorf("repository %d after %d: %s", second, first, repo.Status())
	}
}

func TestACancelledFirstRunFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{})
	h.hosts.Handle("stall.example.org", gittest.StalledPack())
	id := h.add("https://stall.example.org/o/r")
	h.until("the run is at work", func() bool { return h.repository(id).Latest.Phase == codesage.PhaseFetch })
	if status, _ := h.ask("POST", fmt.Sprintf("/api/v1/repositories/%d/cancel", id), ""); status != http.StatusAccepted {
		t.Errorf("cancel: %d", status)
	}
	if repo := h.repository(id); repo.Status() != codesage.StatusFailed || repo.ErrorMessage() != "Cancelled" {
		t.Errorf("%s: %s", repo.Status(), repo.ErrorMessage())
	}
	h.until("the clone is gone", func() bool {
		for _, left := range h.leftovers() {
			if strings.HasPrefix(left, "tmp/") {
				return false
			}
		}
		return true
	})
}
