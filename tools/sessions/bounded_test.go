package sessions_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/store"
	"codesage/store/sqlite/sqlitetest"
	"codesage/tools/sessions"
)

// asking marks the context of a call; that of a worker has no such value.
type asking struct{}

// bounds is a store that notes how long the questions of a call may take at most,
// by the name of the question.
type bounds struct {
	store.Store
	mu   sync.Mutex
	most map[string]time.Duration
}

const unbounded time.Duration = math.MaxInt64

func (b *bounds) note(ctx context.Context, question string) {
	if ctx.Value(asking{}) == nil {
		return
	}
	most := unbounded
	if until, ok := ctx.Deadline(); ok {
		most = time.Until(until)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most[question] = max(b.most[question], most)
}

func (b *bounds) CreateRepository(ctx context.Context, r codesage.Repository) (codesage.Repository, codesage.Run, error) {
	b.note(ctx, "CreateRepository")
	return b.Store.CreateRepository(ctx, r)
}

func (b *bounds) Repository(ctx context.Context, id codesage.RepositoryID) (codesage.Repository, error) {
	b.note(ctx, "Repository")
	return b.Store.Repository(ctx, id)
}

func (b *bounds) RepositoryBySession(ctx context.Context, session string) (codesage.Repository, error) {
	b.note(ctx, "RepositoryBySession")
	return b.Store.RepositoryBySession(ctx, session)
}

func (b *bounds) CreateRun(ctx context.Context, n store.NewRun) (codesage.Run, error) {
	b.note(ctx, "CreateRun")
	return b.Store.CreateRun(ctx, n)
}

func (b *bounds) Run(ctx context.Context, id codesage.RunID) (codesage.Run, error) {
	b.note(ctx, "Run")
	return b.Store.Run(ctx, id)
}

func (b *bounds) CountFiles(ctx context.Context, s codesage.Snapshot) (int, error) {
	b.note(ctx, "CountFiles")
	return b.Store.CountFiles(ctx, s)
}

func (b *bounds) ListSkips(ctx context.Context, s codesage.Snapshot, after string, limit int) ([]codesage.Skip, int, error) {
	b.note(ctx, "ListSkips")
	return b.Store.ListSkips(ctx, s, after, limit)
}

// However long a run may take, no question to the store may.
func TestEachQuestionOfACallThatWaitsForARunHasABound(t *testing.T) {
	t.Parallel()
	asked := &bounds{Store: sqlitetest.Open(t), most: map[string]time.Duration{}}
	h := newHouseOver(t, asked, func(d *sessions.Deps) {
		d.AnswerTime = time.Minute
		d.Schema = func(codesage.Repository) int { return 1 }
	})
	root := fixture(t)
	ctx := context.WithValue(t.Context(), asking{}, true)
	for _, call := range []struct {
		tool string
		args args
	}{
		{"index_repository", args{"path": root, "session": "fx"}},
		{"index_repository", args{"path": root, "session": "fx", "force": true}},
		{"reindex_session", args{"session": "fx", "force": true}},
		{"upgrade_session", args{"session": "fx"}},
	} {
		if _, err := h.ask(ctx, call.tool, call.args); err != nil {
			t.Fatalf("%s: %v", call.tool, err)
		}
	}
	if got := slices.Sorted(maps.Keys(asked.most)); len(got) != 7 {
		t.Errorf("asked %q", got)
	}
	for question, most := range asked.most {
		if most > time.Minute {
			t.Errorf("%s may take %v", question, most)
		}
	}
}
