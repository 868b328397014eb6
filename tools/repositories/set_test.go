package repositories

import (
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codesage/tools"
)

var update = flag.Bool("update", false, "write the schemas in testdata anew")

var discard = slog.New(slog.DiscardHandler)

func TestToolsAreListedInTheirOrder(t *testing.T) {
	t.Parallel()
	want := []string{"list_repositories", "search_code", "get_file", "list_definitions", "analyze_repository", "find_patterns", "add_repository"}
	var got []string
	for _, s := range Specs() {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	hidden := New(Deps{HideAdd: true})
	if _, ok := hidden.Find("add_repository"); ok || len(hidden.Tools) != 6 {
		t.Errorf("with HideAdd the set has %d tools, want 6 without add_repository", len(hidden.Tools))
	}
}

func TestEveryToolHoldsWhatClientsNeed(t *testing.T) {
	t.Parallel()
	for _, s := range Specs() {
		var schema struct {
			Type                 string
			Properties           map[string]struct{ Description, Title string }
			AdditionalProperties *bool
			AnyOf, OneOf, AllOf  any
		}
		if err := json.Unmarshal(s.Arguments.JSON(), &schema); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		switch {
		case s.Description == "":
			t.Errorf("%s has no description", s.Name)
		case schema.Type != "object", schema.Properties == nil, schema.AdditionalProperties == nil || *schema.AdditionalProperties:
			t.Errorf("%s: clients can't use the schema %s", s.Name, s.Arguments.JSON())
		case schema.AnyOf != nil, schema.OneOf != nil, schema.AllOf != nil:
			t.Errorf("%s: the schema has alternatives at its top", s.Name)
		}
		for name, p := range schema.Properties {
			if p.Description == "" || p.Title == "" {
				t.Errorf("%s: the argument %s has no description or title", s.Name, name)
			}
		}
		if s.Writes != (s.Name == "add_repository") || s.Destroys || s.Slow {
			t.Errorf("%s: Writes %v, Destroys %v, Slow %v", s.Name, s.Writes, s.Destroys, s.Slow)
		}
	}
}

// A schema that changes must be meant to: clients keep them.
func TestSchemasAreAsAccepted(t *testing.T) {
	t.Parallel()
	for _, s := range Specs() {
		got := tools.Render(s.Arguments.JSON()) + "\n"
		path := filepath.Join("testdata", s.Name+".json")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got); go test -update accepts it:\n%s", s.Name, diff)
		}
	}
}
