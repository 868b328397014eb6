package worker

import (
	"context"
	"slices"
	"testing"
	"time"

	"codesage"
	"codesage/store"
)

// behind is a store whose clock is behind this machine's, with one repository that
// was refreshed a minute ago.
type behind struct{ store.Store }

func (behind) Now(context.Context) (time.Time, error) { return noon, nil }

func (behind) runs() []codesage.Run {
	return []codesage.Run{
		{ID: 2, Status: codesage.StatusCompleted, FinishedAt: noon.Add(-time.Minute)},
		{ID: 1, Status: codesage.StatusCompleted, FinishedAt: noon.Add(-time.Hour)},
	}
}

func (s behind) ListRepositories(context.Context) ([]codesage.Repository, error) {
	latest := s.runs()[0]
	return []codesage.Repository{{ID: 7, Latest: &latest, Published: &latest, TextRun: latest.ID}}, nil
}

func (s behind) ListRuns(context.Context, codesage.RepositoryID, int) ([]codesage.Run, error) {
	return s.runs(), nil
}

func TestReplacedRunsAreKeptByTheStoresClock(t *testing.T) {
	t.Parallel()
	kept, err := (&Sweeper{Store: behind{}}).keep(t.Context())
	if err != nil || !slices.Contains(kept[7], 2) || !slices.Contains(kept[7], 1) {
		t.Errorf("kept %v, %v; the run before was replaced a minute ago", kept, err)
	}
}

func TestReplacedRunsAreKeptForTheLifeOfASnapshot(t *testing.T) {
	t.Parallel()
	now := time.Now()
	completed := func(id codesage.RunID, minutes int) codesage.Run {
		return codesage.Run{ID: id, Status: codesage.StatusCompleted, FinishedAt: now.Add(-time.Duration(minutes) * time.Minute)}
	}
	failed := func(id codesage.RunID, minutes int) codesage.Run {
		r := completed(id, minutes)
		r.Status = codesage.StatusFailed
		return r
	}
	resumed := func(id codesage.RunID, minutes int) codesage.Run {
		r := completed(id, minutes)
		r.Trigger = codesage.TriggerResume
		return r
	}
	going := codesage.Run{ID: 9, Status: codesage.StatusProcessing}
	for _, tc := range []struct {
		name string
		runs []codesage.Run
		want []codesage.RunID
	}{
		{"none", nil, nil},
		{"the first", []codesage.Run{completed(1, 1)}, nil},
		{"a recent refresh", []codesage.Run{completed(2, 1), completed(1, 500)}, []codesage.RunID{1}},
		{"an old refresh", []codesage.Run{completed(2, 11), completed(1, 500)}, nil},
		{"two refreshes", []codesage.Run{completed(3, 1), completed(2, 9), completed(1, 500)}, []codesage.RunID{2, 1}},
		{"one of them old", []codesage.Run{completed(3, 1), completed(2, 11), completed(1, 500)}, []codesage.RunID{2}},
		{"others failed", []codesage.Run{failed(4, 1), completed(3, 2), failed(2, 3), completed(1, 500)}, []codesage.RunID{1}},
		{"one is going", []codesage.Run{going, completed(2, 1), completed(1, 2)}, []codesage.RunID{1}},
		{"text that another run went on from", []codesage.Run{resumed(2, 1), failed(1, 5)}, []codesage.RunID{1}},
		{"long ago", []codesage.Run{resumed(2, 11), failed(1, 15)}, nil},
	} {
		if got := replacedLately(tc.runs, now); !slices.Equal(got, tc.want) {
			t.Errorf("%s: kept %v, want %v", tc.name, got, tc.want)
		}
	}
}
