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
