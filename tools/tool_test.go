package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"codesage"

	"github.com/google/go-cmp/cmp"
)

// The expected text is what pydantic 2.13.4 makes of the same model, with its
// keys in its order.
func TestSchemaHasPydanticsShape(t *testing.T) {
	t.Parallel()
	s := Schema{Title: "GetFileArgs", Fields: []Field{
		{Name: "repository", Type: String, Required: true, Description: "d"},
		{Name: "start_line", Type: Integer, Nullable: true, Default: 1, Min: Limit(1), Description: "x"},
		{Name: "entity_type", Type: String, Nullable: true, Enum: []string{"a", "b"}},
		{Name: "pats", Type: StringList, Nullable: true},
		{Name: "q", Type: String, Required: true, MinLength: 1, MaxLength: 200, Pattern: "^a"},
		{Name: "r", Type: String, Default: "glob", Enum: []string{"glob", "regex"}},
		{Name: "l1", Type: String, Default: "glob", Enum: []string{"glob"}},
		{Name: "dl", Type: StringList, Default: []string{"a<b"}},
		{Name: "b", Type: Boolean, Default: false},
		{Name: "name", Type: String, Nullable: true, MaxLength: 3},
	}}
	want := `{"additionalProperties":false,"properties":{` +
		`"repository":{"description":"d","title":"Repository","type":"string"},` +
		`"start_line":{"anyOf":[{"minimum":1,"type":"integer"},{"type":"null"}],"default":1,"description":"x","title":"Start Line"},` +
		`"entity_type":{"anyOf":[{"enum":["a","b"],"type":"string"},{"type":"null"}],"default":null,"title":"Entity Type"},` +
		`"pats":{"anyOf":[{"items":{"type":"string"},"type":"array"},{"type":"null"}],"default":null,"title":"Pats"},` +
		`"q":{"maxLength":200,"minLength":1,"pattern":"^a","title":"Q","type":"string"},` +
		`"r":{"default":"glob","enum":["glob","regex"],"title":"R","type":"string"},` +
		`"l1":{"const":"glob","default":"glob","title":"L1","type":"string"},` +
		`"dl":{"default":["a<b"],"items":{"type":"string"},"title":"Dl","type":"array"},` +
		`"b":{"default":false,"title":"B","type":"boolean"},` +
		`"name":{"anyOf":[{"maxLength":3,"type":"string"},{"type":"null"}],"default":null,"title":"Name"}},` +
		`"required":["repository","q"],"title":"GetFileArgs","type":"object"}`
	if diff := cmp.Diff(want, string(s.JSON())); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	empty := `{"additionalProperties":false,"properties":{},"title":"ListRepositoriesArgs","type":"object"}`
	if got := string((Schema{Title: "ListRepositoriesArgs"}).JSON()); got != empty {
		t.Errorf("got %s, want %s", got, empty)
	}
}

func TestFaultTextNamesFieldAndReason(t *testing.T) {
	t.Parallel()
	got := FaultText("search_code", []Fault{
		{Loc: []any{"limit"}, Msg: "Input should be less than or equal to 50"},
		{Loc: []any{"patterns", 1}, Msg: "Input should be a valid string"},
		{Loc: []any{"query"}, Msg: "Value error, query is too long; the limit is 512 bytes"},
	})
	want := "Invalid arguments for 'search_code': limit: Input should be less than or equal to 50; " +
		"patterns.1: Input should be a valid string; query: query is too long; the limit is 512 bytes"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnswerShowsOnlyWhatTheCallerCanActOn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		err     error
		message string
		refused bool
	}{
		{"failure", fmt.Errorf("call: %w", Failf("no %s", "x")), "no x", true},
		{"kind", fmt.Errorf("call: %w", codesage.Errorf(codesage.KindNotFound, "Repository 'x' not found.")), "Repository 'x' not found.", true},
		{"cause stays inside", &codesage.Error{Kind: codesage.KindUnavailable, Message: "away", Err: errors.New("secret.host")}, "away", true},
		{"internal", codesage.Errorf(codesage.KindInternal, "secret"), "", false},
		{"no kind", errors.New("secret"), "", false},
		{"sentinel", codesage.ErrNotFound, "", false},
	} {
		message, refused := Answer(tc.err)
		if message != tc.message || refused != tc.refused {
			t.Errorf("%s: got %q %v, want %q %v", tc.name, message, refused, tc.message, tc.refused)
		}
	}
}

func TestRenderIndentsAndEscapesNothing(t *testing.T) {
	t.Parallel()
	got := Render(json.RawMessage(`{"z":[],"a":{"b":"<&>é","c":{}}}`))
	want := "{\n  \"z\": [],\n  \"a\": {\n    \"b\": \"<&>é\",\n    \"c\": {}\n  }\n}"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := Render(func() {}); got != "null" {
		t.Errorf("got %s, want null", got)
	}
}
