package main

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestDurationsReadTheSameInBothFormatsOfTheLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		took time.Duration
		want string
	}{
		{1500 * time.Millisecond, "1.5s"},
		{-1500 * time.Millisecond, "-1.5s"},
		{1234567891, "1.235s"},
		{2 * time.Hour, "2h0m0s"},
		{3456789, "3.457ms"},
		{999, "999ns"},
		{0, "0s"},
	} {
		var text, lines strings.Builder
		newLog(&text, slog.LevelInfo, "text").WithGroup("g").Info("done", "took", tc.took)
		newLog(&lines, slog.LevelInfo, "json").WithGroup("g").Info("done", "took", tc.took)
		if !strings.HasSuffix(text.String(), " g.took="+tc.want+"\n") {
			t.Errorf("text: got %swant %s", text.String(), tc.want)
		}
		var line struct{ G map[string]any }
		if err := json.Unmarshal([]byte(lines.String()), &line); err != nil || line.G["took"] != tc.want {
			t.Errorf("JSON: got %swant %s, %v", lines.String(), tc.want, err)
		}
	}
}
