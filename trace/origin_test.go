package trace_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"codesage/trace"
)

func TestLinesCarryTheIDsOfTheirContext(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		origin trace.Origin
		want   string
	}{
		{"the server's own work", trace.Origin{}, "level=INFO msg=m a=1"},
		{"a request", trace.Origin{Request: "r1", By: "api key", Client: "127.0.0.1"}, "level=INFO msg=m request=r1 a=1"},
		{"a run", trace.Origin{Run: 7}, "level=INFO msg=m run=7 a=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			trace.Log(trace.WithOrigin(t.Context(), tc.origin), slog.New(slog.NewTextHandler(&out, nil))).Info("m", "a", 1)
			if _, got, _ := strings.Cut(strings.TrimSpace(out.String()), " "); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
