package catalog_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/catalog"
	"codesage/store/sqlite/sqlitetest"
)

// TestPathAndOptionsStayUntilARunIsPublished is about POST /folders, which
// nobody waits for.
func TestPathAndOptionsStayUntilARunIsPublished(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	ctx := t.Context()
	first, err := w.store.StartRun(ctx, w.run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.store.Begin(ctx, first, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Publish(ctx, codesage.Outcome{}); err != nil {
		t.Fatal(err)
	}
	options := codesage.IndexOptions{Include: []string{"*.go"}, ChunkSize: 100}
	q := catalog.FolderRequest{Path: "/other", Session: "s", Options: options, Force: true}
	if _, _, err := w.catalog.AddFolder(ctx, q); err != nil {
		t.Fatal(err)
	}
	repo, err := w.catalog.Cancel(ctx, first.Repository)
	if err != nil || repo.Path != "/src" || !cmp.Equal(repo.Options, codesage.IndexOptions{}) {
		t.Fatalf("after a cancelled run: %s %+v, %v", repo.Path, repo.Options, err)
	}
	if _, again, err := w.catalog.Reprocess(ctx, repo.ID, codesage.TriggerWatch, false); err != nil || again.Path != "/src" {
		t.Errorf("the next run reads %s, %v", again.Path, err)
	}
	if _, err := w.catalog.Cancel(ctx, repo.ID); err != nil {
		t.Fatal(err)
	}
	_, run, err := w.catalog.AddFolder(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	if run, err = w.store.StartRun(ctx, run.ID, 0); err != nil {
		t.Fatal(err)
	}
	if rows, err = w.store.Begin(ctx, run, first.ID); err != nil {
		t.Fatal(err)
	}
	if err := rows.Publish(ctx, codesage.Outcome{}); err != nil {
		t.Fatal(err)
	}
	repo, err = w.store.Repository(ctx, repo.ID)
	if err != nil || repo.Path != "/other" || !cmp.Equal(repo.Options, options) {
		t.Errorf("after a published run: %s %+v, %v", repo.Path, repo.Options, err)
	}
}

func TestAPlainAddKeepsTheOptionsOfBefore(t *testing.T) {
	t.Parallel()
	s := sqlitetest.Open(t)
	c := catalog.New(catalog.Options{Store: s, Queue: silentQueue{}, Log: slog.New(slog.DiscardHandler),
		CheckRoot: func(path string) (string, error) { return path, nil }})
	chosen := codesage.IndexOptions{Exclude: []string{"**/gen/**"}, ChunkSize: 300}
	repo, _, err := c.AddFolder(t.Context(), catalog.FolderRequest{Path: "/src", Session: "s", Options: chosen})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, repo.ID, "")
	for _, tc := range []struct {
		name string
		ask  catalog.FolderRequest
		want codesage.IndexOptions
	}{
		{"nothing chosen", catalog.FolderRequest{Path: "/src", Session: "s", Refresh: true}, chosen},
		{"others chosen", catalog.FolderRequest{Path: "/src", Session: "s", Options: codesage.IndexOptions{ChunkSize: 400}, Refresh: true}, codesage.IndexOptions{ChunkSize: 400}},
		{"forced", catalog.FolderRequest{Path: "/src", Session: "s", Force: true}, codesage.IndexOptions{}},
	} {
		_, run, err := c.AddFolder(t.Context(), tc.ask)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if diff := cmp.Diff(tc.want, run.Options); diff != "" {
			t.Errorf("%s: options (-want +got):\n%s", tc.name, diff)
		}
		publish(t, s, repo.ID, "")
	}
}

// The first run's text can be read while its symbol pass lasts. Nobody's run is
// overtaken then but by who says so.
func TestOnlyWhoSaysSoSupersedesARun(t *testing.T) {
	t.Parallel()
	for _, ask := range []struct {
		name string
		q    catalog.FolderRequest
		want error // in the symbol pass; in the text pass it is always ErrConflict
	}{
		{"force", catalog.FolderRequest{Force: true}, codesage.ErrConflict},
		{"refresh", catalog.FolderRequest{Refresh: true}, codesage.ErrConflict},
		{"neither", catalog.FolderRequest{}, codesage.ErrConflict},
		{"force that supersedes", catalog.FolderRequest{Force: true, Supersede: true}, nil},
		{"refresh that supersedes", catalog.FolderRequest{Refresh: true, Supersede: true}, nil},
	} {
		t.Run(ask.name, func(t *testing.T) {
			t.Parallel()
			w := newWaiting(t)
			ctx := t.Context()
			ask.q.Path, ask.q.Session = "/src", "s"
			if _, _, err := w.catalog.AddFolder(ctx, ask.q); !errors.Is(err, codesage.ErrConflict) {
				t.Errorf("in the text pass: %v", err)
			}
			run, err := w.store.StartRun(ctx, w.run.ID, 0)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := w.store.Begin(ctx, run, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Abort()
			if err := rows.PublishText(ctx); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.catalog.AddFolder(ctx, ask.q); !errors.Is(err, ask.want) {
				t.Errorf("in the symbol pass: %v, want %v", err, ask.want)
			}
			run, err = w.store.Run(ctx, run.ID)
			if err != nil || run.Going() != (ask.want != nil) {
				t.Errorf("the first run is %s, %v", run.Status, err)
			}
		})
	}
}
