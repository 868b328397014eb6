package worker

import (
	"slices"
	"testing"
	"time"

	"codesage"
)

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
