package main

import (
	"strings"
	"testing"

	"codesage"
	"codesage/api/client"
)

// The branch stood there twice.
func TestStatusTellsEachThingOnce(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	writeStatus(&out, client.Repository{
		ID: 7, Name: "app", Session: "app-7", Status: codesage.StatusCompleted, URL: "https://github.com/a/app", Branch: "dev", CommitSHA: "c0ffee",
		TotalFiles: 3, ProcessedFiles: 3, TotalEntities: 5, Language: "go", Framework: "gin", ErrorMessage: "partly",
	}, nil)
	want := `app (id 7, session app-7): completed
  url        https://github.com/a/app
  branch     dev
  commit     c0ffee
  files      3 of 3
  entities   5
  language   go
  framework  gin
  message    partly
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}
