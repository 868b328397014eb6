package main

import (
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/api/client"
)

func TestStatusSaysEachThingOnce(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	writeStatus(&out, client.Repository{
		ID: 1, Name: "octo/demo", Session: "octo-demo", URL: "https://github.com/octo/demo", Branch: "main", CommitSHA: "0123",
		Status: codesage.StatusCompleted, Language: "go", Framework: "gin", ErrorMessage: "partly", ProcessedAt: time.Now(),
	}, nil)
	for _, label := range []string{"url", "branch", "commit", "files", "entities", "language", "framework", "message"} {
		if n := strings.Count(out.String(), "\n  "+label+" "); n != 1 {
			t.Errorf("%s is said %d times in\n%s", label, n, out.String())
		}
	}
}

// What has not happened has no time, and not one of the year 1.
func TestJSONHasNoTimeOfWhatHasNotHappened(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	at := time.Now()
	if err := writeJSON(&out, []any{client.Repository{CreatedAt: at, UpdatedAt: at}, client.Run{CreatedAt: at}}); err != nil || strings.Contains(out.String(), "0001-") {
		t.Errorf("got %s, %v", out.String(), err)
	}
}
