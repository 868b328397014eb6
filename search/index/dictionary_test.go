package index_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

// docsWith returns the places of the documents with a term, as "0 2".
func docsWith(t *testing.T, x *index.Index, field int, word string) string {
	t.Helper()
	var at []string
	err := x.Each(context.Background(), query.Term{Field: field, Text: word}, index.Options{}, func(m *index.Match) error {
		at = append(at, fmt.Sprint(m.Ref().Doc))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(at, " ")
}

// modelTerms counts the documents of each term of a field.
func modelTerms(m *model, field int) map[string]int {
	df := map[string]int{}
	for i := range m.docs {
		seen := map[string]bool{"": true}
		for _, tok := range m.docs[i].fields[field] {
			if !seen[tok] {
				seen[tok] = true
				df[tok]++
			}
		}
	}
	return df
}

// distanceOne reports whether one insertion, deletion, replacement or swap of
// neighbours makes a into b.
func distanceOne(a, b string) bool {
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x)+len(y) == 1 || len(x) == 1 && len(y) == 1 ||
		len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}

func TestDictionaryEqualsModel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := newGen(3)
	m := newModel(chunkSchema)
	var parts []index.Part
	for i := range 3 {
		files := g.files(chunkSchema, fmt.Sprintf("s%d", i), 40)
		p := index.Part{Segment: writeSegment(t, segPath(t, i), chunkSchema, files)}
		for n, f := range files {
			if g.IntN(3) == 0 {
				p.Deleted.Add(n)
			} else {
				m.add(0, f)
			}
		}
		parts = append(parts, p)
	}
	x := newIndex(t, parts...)
	for field := range 2 {
		df := modelTerms(m, field)
		var sorted []index.TermCount
		for w, n := range df {
			sorted = append(sorted, index.TermCount{Text: w, DF: n})
		}
		slices.SortFunc(sorted, func(a, b index.TermCount) int { return cmp.Compare(a.Text, b.Text) })
		for _, limit := range []int{0, 3, 1000} {
			for _, prefix := range []string{"", "a", "éa", "nothing"} {
				want := slices.DeleteFunc(slices.Clone(sorted), func(c index.TermCount) bool { return !strings.HasPrefix(c.Text, prefix) })
				want = want[:min(limit, len(want))]
				got, err := x.Terms(ctx, field, prefix, limit)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("terms %q of field %d: %v, %v; want %v", prefix, field, got, err, want)
				}
			}
		}
		for _, c := range sorted {
			checkNear(t, x, field, c.Text, sorted)
			if n, err := x.DF(field, c.Text); err != nil || n != c.DF {
				t.Fatalf("df of %s: %d, %v; want %d", c.Text, n, err, c.DF)
			}
		}
		checkNear(t, x, field, "ax", sorted)
		checkNear(t, x, field, "", sorted)
		checkNear(t, x, field, "日本", sorted)
	}
	if _, err := x.Terms(ctx, 7, "a", 1); !errors.Is(err, index.ErrQuery) {
		t.Errorf("terms of no field: %v, want ErrQuery", err)
	}
}

func checkNear(t *testing.T, x *index.Index, field int, word string, terms []index.TermCount) {
	t.Helper()
	var want []index.TermCount
	for _, c := range terms {
		if distanceOne(word, c.Text) {
			want = append(want, c)
		}
	}
	slices.SortFunc(want, func(a, b index.TermCount) int {
		return cmp.Or(cmp.Compare(b.DF, a.DF), cmp.Compare(a.Text, b.Text))
	})
	got, err := x.Near(context.Background(), field, word, 1000)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("near %q: %v, %v; want %v", word, got, err, want)
	}
	if len(want) > 1 {
		if got, _ := x.Near(context.Background(), field, word, 1); !slices.Equal(got, want[:1]) {
			t.Fatalf("nearest to %q: %v, want %v", word, got, want[:1])
		}
	}
}
