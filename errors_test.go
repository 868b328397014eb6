package codesage_test

import (
	"errors"
	"fmt"
	"testing"

	"codesage"
)

func TestTheLogGetsTheCausesThatCallersDoNot(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp 10.0.0.1:443: refused")
	away := &codesage.Error{Kind: codesage.KindUnavailable, Message: "Search is unavailable; try again later.", Err: cause}
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"a plain error", cause, "dial tcp 10.0.0.1:443: refused"},
		{"a hidden cause", away, "Search is unavailable; try again later.: dial tcp 10.0.0.1:443: refused"},
		{"with context", fmt.Errorf("search: %w", away), "search: Search is unavailable; try again later.: dial tcp 10.0.0.1:443: refused"},
		{"a cause that is told already", codesage.Errorf(codesage.KindInvalid, "read x: %w", cause), "read x: dial tcp 10.0.0.1:443: refused"},
	} {
		if got := codesage.Detail(tc.err); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := away.Error(); got != away.Message {
		t.Errorf("callers read %q", got)
	}
}
