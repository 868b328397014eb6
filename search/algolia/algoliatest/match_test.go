package algoliatest

import (
	"fmt"
	"strings"
	"testing"
)

// found are the ids that a query finds in an index with some settings.
func found(t *testing.T, settings map[string]any, body map[string]any) string {
	t.Helper()
	x := newStore()
	x.setSettings(settings)
	x.write([]string{"1", "2", "3", "4"}, []record{
		{"name": "ListUsers", "text": "of a team", "test": 1.},
		{"name": "user", "text": "one", "test": 0.},
		{"name": "team", "text": "listing", "test": 0.},
		{"name": "configuration", "text": "user", "test": 0.},
	})
	a := x.query(body)
	if a.status != 200 {
		t.Fatalf("query %v: %d %s", body, a.status, a.message)
	}
	var ids []string
	for _, hit := range a.body.(map[string]any)["hits"].([]record) {
		ids = append(ids, fmt.Sprint(hit["objectID"]))
	}
	return strings.Join(ids, " ")
}

// What the settings and options don't ask for is not done.
func TestMatchingFollowsSettingsAndOptions(t *testing.T) {
	t.Parallel()
	full := map[string]any{
		"searchableAttributes": []any{"name", "unordered(text)"}, "camelCaseAttributes": []any{"name"},
		"customRanking": []any{"asc(test)"}, "minWordSizefor1Typo": 5., "ignorePlurals": true, "removeStopWords": true,
		"removeWordsIfNoResults": "allOptional",
	}
	without := func(names ...string) map[string]any {
		m := map[string]any{}
		for k, v := range full {
			m[k] = v
		}
		for _, name := range names {
			delete(m, name)
		}
		return m
	}
	for _, test := range []struct {
		name, query, want string
		settings          map[string]any
	}{
		{"all", "users", "1 2 4", full},
		{"better attribute first", "user", "2 1 4", full},
		{"no plurals", "users", "1", without("ignorePlurals")},
		{"no humps", "users team", "3 2 4 1", without("camelCaseAttributes")},
		{"humps", "users team", "1", full},
		{"typo", "confgiuration", "4", full},
		{"typo in a short word", "tean", "", full},
		{"typo in a short word that may have one", "tean", "3 1", without("minWordSizefor1Typo")},
		{"some words", "user xyzzy", "2 1 4", full},
		{"all words or none", "user xyzzy", "", without("removeWordsIfNoResults")},
		{"stop words", "what is the user", "2 1 4", full},
		{"stop words count", "one of the user", "", without("removeStopWords", "removeWordsIfNoResults")},
		{"everything", "", "2 3 4 1", full},
		{"insertion order", "", "1 2 3 4", without("customRanking")},
		{"prefix", "conf", "4", full},
		{"nothing is searchable", "user", "", without("searchableAttributes", "camelCaseAttributes")},
	} {
		if got := found(t, test.settings, map[string]any{"query": test.query}); got != test.want {
			t.Errorf("%s: %q found %q, want %q", test.name, test.query, got, test.want)
		}
	}
}
