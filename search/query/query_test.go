package query_test

import (
	"testing"

	"codesage/search/query"
)

func TestStringShowsTheTree(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		q    query.Query
		want string
	}{
		{"term", query.Term{Text: "mutex"}, "0:mutex"},
		{"weight", query.Term{Field: 2, Text: "mutex", Weight: 1.5}, "2:mutex^1.5"},
		{"phrase with a gap", query.Phrase{Words: []string{"a", "", "b"}}, `0:"a ? b"`},
		{"prefix", query.Prefix{Field: 1, Text: "unmars"}, "1:unmars*"},
		{"tree", query.And{query.Or{query.Term{Text: "a"}, query.Term{Text: "b c"}}, query.PathWord("http")},
			`((0:a OR 0:"b c") AND path:http)`},
		{"not", query.Not{Q: query.All{}, Except: query.PathMatch("_test")}, `(all NOT path~"_test")`},
		{"filters", query.And{query.Keyword{Field: 6, Text: "go"}, query.Attr{Attr: 1, Min: 2, Max: 9}}, "(6=go AND attr1[2..9])"},
		{"const", query.Const{Q: query.PathFunc{Name: "ext"}, Score: 1}, "const(path:func(ext), 1)"},
		{"nil member", query.Or{nil}, "(nil)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.q.String(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
