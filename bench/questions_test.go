package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"codesage/api/client"
)

func TestTheMixHasEveryToolThatReads(t *testing.T) {
	t.Parallel()
	o := asking(t, 1, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"uri":"u","content":{"files":[{"file_path":"src/päth_of/http_server.go"},{"file_path":"x"}]}}`)
	})
	c, err := o.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	questions, err := Questions(t.Context(), c, client.Repository{ID: 7, Name: "app"})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	asked := map[string]int{}
	for range 100 {
		for _, q := range questions {
			call := q(r)
			asked[call.Tool]++
			var a map[string]any
			if err := json.Unmarshal(call.Arguments, &a); err != nil {
				t.Fatal(err)
			}
			if call.Tool != "list_repositories" && a["repository"] != "7" {
				t.Fatalf("%s asks about %v", call.Tool, a["repository"])
			}
			if call.Tool == "get_file" && a["path"] != "src/päth_of/http_server.go" && a["path"] != "x" {
				t.Fatalf("get_file asks for %v", a["path"])
			}
		}
	}
	for _, tool := range []string{"search_code", "get_file", "list_definitions", "find_patterns", "analyze_repository", "list_repositories"} {
		if asked[tool] < 100 {
			t.Errorf("%s is asked %d times", tool, asked[tool])
		}
	}
	if len(asked) != 6 {
		t.Errorf("asked %v", asked)
	}
}

func TestWordsAreThoseOfFileNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 70)
	got := wordsOf([]string{"lib/http_server2.go", "über-größe.md", "b.c", "x/http.go", long})
	want := []string{"http", "server", "über", "größe", long[:30], long[:30], long[:10]}
	if got = got[len(common):]; !slices.Equal(got, slices.Compact(want)) {
		t.Errorf("got %q", got)
	}
	if got := wordsOf([]string{"1"}); !slices.Equal(got, common) {
		t.Errorf("got %q", got)
	}
}

func TestARepositoryWithoutFilesIsAnError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"no files": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"uri":"u","content":{"files":[]}}`) },
			"app has no indexed files yet; `codesage status 7` tells how it stands"},
		"a list of something else": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"uri":"u","content":[]}`) },
			"read the list of the files of app: "},
		"a refusal": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			"list the files of app: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := asking(t, 1, tc.h).Dial()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := Questions(t.Context(), c, client.Repository{ID: 7, Name: "app"}); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
