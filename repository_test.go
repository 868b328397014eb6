package codesage

import "testing"

func TestErrorMessageOfAFailedRefresh(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ failure, notice, want string }{
		{"Cancelled", "", "Refresh failed: Cancelled; serving the index of 0123456789ab"},
		{"The host is away.", "", "Refresh failed: The host is away; serving the index of 0123456789ab"},
		{
			"The host is away.", "Partially indexed: 1 of 2 files (encoding: 1)",
			"Refresh failed: The host is away; serving the index of 0123456789ab. Partially indexed: 1 of 2 files (encoding: 1)",
		},
	} {
		r := Repository{
			Latest:    &Run{Status: StatusFailed, Error: tc.failure},
			Published: &Run{Status: StatusCompleted, Commit: "0123456789abcdef", Notice: tc.notice},
		}
		if got := r.ErrorMessage(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

func TestCountersShownDoNotGoBack(t *testing.T) {
	t.Parallel()
	run := func(s Status, processed, total int) *Run {
		return &Run{Status: s, ProcessedFiles: processed, TotalFiles: total}
	}
	for _, tc := range []struct {
		name              string
		published, latest *Run
		processed, total  int
	}{
		{"nothing yet", nil, nil, 0, 0},
		{"a first run waits", nil, run(StatusPending, 0, 0), 0, 0},
		{"a first run works", nil, run(StatusProcessing, 3, 9), 3, 9},
		{"published", run(StatusCompleted, 200, 200), run(StatusCompleted, 200, 200), 200, 200},
		{"a refresh waits", run(StatusCompleted, 200, 200), run(StatusPending, 0, 0), 0, 200},
		{"a refresh lists", run(StatusCompleted, 200, 200), run(StatusProcessing, 0, 0), 0, 200},
		{"a refresh works", run(StatusCompleted, 200, 200), run(StatusProcessing, 7, 210), 7, 210},
		{"a refresh failed", run(StatusCompleted, 200, 200), run(StatusFailed, 7, 210), 200, 200},
	} {
		r := Repository{Published: tc.published, Latest: tc.latest}
		if got := r.Counted(); got.ProcessedFiles != tc.processed || got.TotalFiles != tc.total {
			t.Errorf("%s: %d/%d, want %d/%d", tc.name, got.ProcessedFiles, got.TotalFiles, tc.processed, tc.total)
		}
	}
	published := run(StatusCompleted, 200, 200)
	r := Repository{Published: published, Latest: run(StatusPending, 0, 0)}
	if r.Counted(); published.ProcessedFiles != 200 {
		t.Error("the published run was changed")
	}
}
