package catalog_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"codesage"
	"codesage/catalog"
	"codesage/pipeline/source/git"
	"codesage/store/sqlite"
	"codesage/store/sqlite/sqlitetest"
)

// hosts knows URLs and lets every pre-flight end as err says.
type hosts struct{ err error }

func (h hosts) Parse(url, branch string) (codesage.Repository, error) {
	r, err := git.ParseURL(url, branch)
	return codesage.Repository{Name: r.Name, Session: strings.ReplaceAll(r.Name, "/", "-"), Source: codesage.SourceGit, URL: r.URL, Branch: r.Branch}, err
}

func (h hosts) Preflight(context.Context, codesage.Repository) error { return h.err }

func (h hosts) Head(context.Context, codesage.Repository) (string, error) { return "", h.err }

// away is a queue that can't be reached.
type away struct{}

func (away) Enqueue(context.Context, codesage.Run) error  { return errors.New("away") }
func (away) Cancel(context.Context, codesage.RunID) error { return errors.New("away") }

func newCatalog(t *testing.T, h hosts) (*catalog.Catalog, *sqlite.Store) {
	t.Helper()
	s := sqlitetest.Open(t)
	return catalog.New(catalog.Options{Store: s, Queue: away{}, Hosts: h, Log: slog.New(slog.DiscardHandler)}), s
}

// publish ends the newest run of a repository with an index of a commit.
func publish(t *testing.T, s *sqlite.Store, id codesage.RepositoryID, commit string) {
	t.Helper()
	repo, err := s.Repository(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.StartRun(t.Context(), repo.Latest.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Begin(t.Context(), run, repo.TextRun)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(t.Context(), codesage.Outcome{Progress: codesage.Progress{Commit: commit}}); err != nil {
		t.Fatal(err)
	}
}

func TestPushesOfTheIndexedBranchStartARun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, branch string
		push         catalog.Push
		want         catalog.PushResult
	}{
		{"the default branch", "", catalog.Push{Branch: "main", Default: "main", Commit: "b"}, catalog.PushStarted},
		{"a default branch under a new name", "", catalog.Push{Branch: "trunk", Default: "trunk", Commit: "b"}, catalog.PushStarted},
		{"beside the default branch", "", catalog.Push{Branch: "dev", Default: "main", Commit: "b"}, catalog.PushOtherBranch},
		{"a host that names no default branch", "", catalog.Push{Branch: "dev", Commit: "b"}, catalog.PushStarted},
		{"the chosen branch", "dev", catalog.Push{Branch: "dev", Default: "main", Commit: "b"}, catalog.PushStarted},
		{"beside the chosen branch", "dev", catalog.Push{Branch: "main", Default: "main", Commit: "b"}, catalog.PushOtherBranch},
		{"another case of the branch", "dev", catalog.Push{Branch: "Dev", Commit: "b"}, catalog.PushOtherBranch},
		{"the indexed commit", "", catalog.Push{Branch: "main", Default: "main", Commit: "a"}, catalog.PushIndexed},
		{"no commit", "", catalog.Push{Branch: "main", Default: "main"}, catalog.PushStarted},
	} {
		c, s := newCatalog(t, hosts{})
		repo, err := c.Add(t.Context(), "https://gitlab.com/group/sub/demo", tc.branch, "")
		if err != nil {
			t.Fatal(err)
		}
		publish(t, s, repo.ID, "a")
		tc.push.URL = "https://GitLab.com/Group/Sub/Demo.git"
		got, result, err := c.Pushed(t.Context(), tc.push)
		if err != nil || result != tc.want || got.ID != repo.ID {
			t.Errorf("%s: %s, %v", tc.name, result, err)
		}
		if started := got.Latest.Going() && got.Latest.Trigger == codesage.TriggerWebhook; started != (tc.want == catalog.PushStarted) {
			t.Errorf("%s: the newest run is %s by %s", tc.name, got.Latest.Status, got.Latest.Trigger)
		}
	}
}

func TestAPushDuringARunStartsNone(t *testing.T) {
	t.Parallel()
	c, s := newCatalog(t, hosts{})
	repo, err := c.Add(t.Context(), "https://gitlab.com/o/r", "", "")
	if err != nil {
		t.Fatal(err)
	}
	push := catalog.Push{URL: repo.URL, Branch: "main", Default: "main", Commit: "b"}
	if _, result, err := c.Pushed(t.Context(), push); err != nil || result != catalog.PushWaits {
		t.Errorf("before the run: %s, %v", result, err)
	}
	if _, err := s.StartRun(t.Context(), repo.Latest.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, result, err := c.Pushed(t.Context(), push); err != nil || result != catalog.PushFollows {
		t.Errorf("during the run: %s, %v", result, err)
	}
	if err := c.Remove(t.Context(), repo.ID); err != nil {
		t.Fatal(err)
	}
	if _, result, err := c.Pushed(t.Context(), push); err != nil || result != catalog.PushUnknown {
		t.Errorf("after the delete: %s, %v", result, err)
	}
}

func TestWhatAHostRefusesIsInvalid(t *testing.T) {
	t.Parallel()
	for kind, want := range map[codesage.Kind]codesage.Kind{
		codesage.KindDenied: codesage.KindInvalid, codesage.KindTooLarge: codesage.KindInvalid, codesage.KindInvalid: codesage.KindInvalid,
		codesage.KindNotFound: codesage.KindNotFound, codesage.KindUnavailable: codesage.KindUnavailable, codesage.KindTimeout: codesage.KindTimeout,
	} {
		c, s := newCatalog(t, hosts{err: codesage.Errorf(kind, "no")})
		_, err := c.Add(t.Context(), "https://gitlab.com/o/r", "", "")
		if codesage.KindOf(err) != want || err.Error() != "no" {
			t.Errorf("%s became %s: %v", kind, codesage.KindOf(err), err)
		}
		if all, err := s.ListRepositories(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("%s: %d repositories, %v", kind, len(all), err)
		}
	}
}
