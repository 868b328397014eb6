package algolia

import (
	"context"
	"errors"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/algolia/algoliatest"
)

// An attempt that was taken over while it stood still sends nothing more.
func TestAnOvertakenWriterSendsNothing(t *testing.T) {
	t.Parallel()
	overtaken := codesage.Errorf(codesage.KindConflict, "taken over")
	live := 1
	e, s := openFake(t, Config{HoldBytes: 1, Check: func(_ context.Context, run codesage.Run) error {
		if run.ID != 2 || run.Attempt != live {
			return overtaken
		}
		return nil
	}})
	begin := func(base codesage.RunID, run codesage.Run) search.Writer {
		w, err := e.Begin(t.Context(), codesage.Repository{ID: 1}, base, run)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Abort)
		return w
	}
	before, after := tree{"a.go": names("a", 3), "b.go": names("b", 2)}, tree{"a.go": names("new", 1)}
	w := begin(0, codesage.Run{ID: 1, Attempt: search.Rebuilt})
	write(t, w, 1, 1, nil, before)
	commit(t, w)

	first := begin(1, codesage.Run{ID: 2, Attempt: 1})
	write(t, first, 1, 2, before, tree{"b.go": before["b.go"], "c.go": names("c", maxBatch)})
	live = 2
	s.Requests()
	if err := first.Put(t.Context(), "d.go", 0, recordsOf(1, 2, "d.go", names("d", maxBatch))); !errors.Is(err, codesage.ErrConflict) {
		t.Errorf("put: got %v, want KindConflict", err)
	}
	if err := first.Commit(t.Context()); !errors.Is(err, codesage.ErrConflict) {
		t.Errorf("commit: got %v, want KindConflict", err)
	}
	if got := routes(s); got != "" {
		t.Errorf("it asked %q, want nothing", got)
	}
	first.Abort()

	// Nor does it delete, when there is nothing else to send.
	live = 3
	w = begin(0, codesage.Run{ID: 2, Attempt: 3})
	write(t, w, 1, 2, nil, before)
	commit(t, w)
	third := begin(2, codesage.Run{ID: 2, Attempt: 3})
	write(t, third, 1, 2, before, tree{"b.go": before["b.go"]})
	live = 4
	if err := third.Commit(t.Context()); !errors.Is(err, codesage.ErrConflict) {
		t.Errorf("commit of deletes: got %v, want KindConflict", err)
	}
	third.Abort()
	wantEntities(t, e, 1, before)
	live = 5
	w = begin(2, codesage.Run{ID: 2, Attempt: 5})
	write(t, w, 1, 2, before, after)
	commit(t, w)
	wantEntities(t, e, 1, after)
}

// Nor does an attempt that was taken over while it had the base rebuilt: what it
// would write anew has other records by then.
func TestAnOvertakenRebuildOfTheBaseSendsNothing(t *testing.T) {
	t.Parallel()
	before, half, after := tree{"a.go": names("a", 3)}, tree{"a.go": names("half", 3)}, tree{"a.go": names("new", 1), "b.go": names("b", 2)}
	s := algoliatest.New(t, algoliatest.Options{})
	live := 0
	check := func(_ context.Context, run codesage.Run) error {
		if run.ID != 2 || run.Attempt != live {
			return codesage.Errorf(codesage.KindConflict, "taken over")
		}
		return nil
	}
	// rebuild returns a Config.Rebuild that does something before it sends.
	rebuild := func(e **Engine, first func()) func(context.Context, codesage.Snapshot) error {
		return func(ctx context.Context, at codesage.Snapshot) error {
			w, err := (*e).Begin(ctx, codesage.Repository{ID: at.Repository}, 0, codesage.Run{ID: at.Run, Attempt: search.Rebuilt})
			if err != nil {
				return err
			}
			defer w.Abort()
			write(t, w, at.Repository, at.Run, nil, before)
			first()
			return w.Commit(ctx)
		}
	}
	var one, two *Engine // of two processes
	takeOver := func() {
		live = 2
		w, err := two.Begin(t.Context(), codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2, Attempt: 2})
		if err != nil {
			t.Fatal(err)
		}
		write(t, w, 1, 2, before, after)
		commit(t, w)
	}
	one = openAt(t, s, Config{HoldBytes: 1 << 20, Check: check, Rebuild: rebuild(&one, takeOver)})
	two = openAt(t, s, Config{HoldBytes: 1 << 20, Check: check, Rebuild: rebuild(&two, func() {})})

	w, err := one.Begin(t.Context(), codesage.Repository{ID: 1}, 0, codesage.Run{ID: 1, Attempt: search.Rebuilt})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, 1, 1, nil, before)
	commit(t, w)
	w, err = two.Begin(t.Context(), codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, 1, 2, before, half) // and never published
	commit(t, w)

	live = 1
	if _, err := one.Begin(t.Context(), codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2, Attempt: 1}); !errors.Is(err, codesage.ErrConflict) {
		t.Errorf("begin: got %v, want KindConflict", err)
	}
	wantEntities(t, two, 1, after)
}
