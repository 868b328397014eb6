package algolia

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"codesage/search"
	"codesage/search/searchtest"
)

// TestContractOnTheService runs the suite against Algolia itself, each test in
// an index of its own that is deleted afterwards.
func TestContractOnTheService(t *testing.T) {
	app, key := os.Getenv("ALGOLIA_TEST_APP_ID"), os.Getenv("ALGOLIA_TEST_ADMIN_KEY")
	if app == "" || key == "" {
		t.Skip("needs an account: ALGOLIA_TEST_APP_ID and ALGOLIA_TEST_ADMIN_KEY are not set")
	}
	searchtest.Run(t, func(t *testing.T) search.Engine {
		name := "codesage_test_" + rand.Text()
		e, err := Open(t.Context(), Config{AppID: app, AdminKey: key, IndexName: name})
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := e.deleteIndex(ctx); err != nil {
				t.Errorf("index %s stays behind: %v", name, err)
			}
		})
		return e
	}, searchtest.Options{Skip: skips})
}

// deleteIndex removes the index with all that is in it.
func (e *Engine) deleteIndex(ctx context.Context) error {
	var task int64
	err := e.call(ctx, "delete index", triesOfWrite, func(ctx context.Context) error {
		res, err := e.index.Delete(ctx)
		task = res.TaskID
		return err
	})
	if err != nil {
		return err
	}
	return e.await(ctx, task)
}

func TestDeletedIndexIsGone(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	if err := e.deleteIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.Records("entities"); got != 0 {
		t.Errorf("%d records are left", got)
	}
}
