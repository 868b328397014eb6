package algolia

import (
	"context"
	"errors"
	"testing"

	"codesage"
	"codesage/search"
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
