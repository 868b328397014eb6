package local

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
)

// The model ranks entities as the comment on Index.Search says, by looking at
// every record for every word.

type modelEntity struct {
	r                       search.Record
	repo                    codesage.RepositoryID
	name, place, text, body modelField
	joins, path             map[string]bool
}

type modelField struct{ whole, parts []string }

func (f modelField) has(term string) bool {
	return slices.Contains(f.whole, term) || slices.Contains(f.parts, term)
}

func (f modelField) hasPrefix(prefix string) bool {
	isLonger := func(s string) bool { return strings.HasPrefix(s, prefix) }
	return slices.ContainsFunc(f.whole, isLonger) || slices.ContainsFunc(f.parts, isLonger)
}

func modelText(text string) (f modelField) {
	for _, t := range tokens(text) {
		f.whole = append(f.whole, index.Fold(t))
		f.parts = append(f.parts, index.PartsOf(t)...)
	}
	return f
}

func setOf(list ...string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

func newModelEntity(r search.Record) *modelEntity {
	path := modelText(r.FilePath)
	return &modelEntity{r: r, repo: r.RepositoryID, name: modelText(r.EntityName),
		place: modelText(placeOf(r.FilePath, r.EntityName, r.Description)), text: modelText(r.Signature + "\n" + r.Description),
		body: modelText(r.Content), joins: setOf(modelText(strings.Join(nameJoins(r.EntityName), " ")).whole...),
		path: setOf(append(path.whole, path.parts...)...)}
}

// match returns the best field of an entity for a word of n, 5 to 1, 0 for none.
func (e *modelEntity) match(w query.Word, terms []string, n int, isTyped bool) int {
	inJoins := func(ok func(string) bool) bool {
		for j := range e.joins {
			if ok(j) {
				return true
			}
		}
		return false
	}
	any := func(has func(string) bool) bool { return slices.ContainsFunc(terms, has) }
	all := func(has func(string) bool) bool {
		return isTyped && len(w.Parts) > 0 && !slices.ContainsFunc(w.Parts, func(p string) bool { return !has(p) })
	}
	prefix := func(f modelField) bool { return isTyped && w.Prefix && f.hasPrefix(w.Text) }
	inPath := func(s string) bool { return e.path[s] }
	switch {
	case isTyped && e.name.has(w.Text):
		return 5
	case any(e.name.has), any(func(s string) bool { return e.joins[s] }), all(e.name.has), prefix(e.name),
		isTyped && w.Prefix && inJoins(func(j string) bool { return strings.HasPrefix(j, w.Text) }):
		return 4
	case any(e.text.has), all(e.text.has), prefix(e.text), isTyped && n > 1 && any(e.place.has):
		return 3
	case any(inPath), all(inPath):
		return 2
	case any(e.body.has), all(func(s string) bool { return slices.Contains(e.body.parts, s) }), len(w.Text) >= 3 && prefix(e.body):
		return 1
	}
	return 0
}

type modelHit struct {
	e        *modelEntity
	n        int // place among all records
	key      [5]int
	fraction float64
}

// near reports whether two words are one typo apart.
func near(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	switch {
	case a == b || len(y)-len(x) > 1:
		return false
	case len(y) > len(x):
		return string(x[i:]) == string(y[i+1:])
	}
	return string(x[i+1:]) == string(y[i+1:]) ||
		i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && string(x[i+2:]) == string(y[i+2:])
}

func (m model) typos(w query.Word) []string {
	found := map[string]bool{}
	for _, e := range m.all {
		for _, list := range [][]string{e.name.whole, e.name.parts, e.text.whole, e.text.parts, e.body.whole, e.body.parts, slices.Collect(keys(e.joins))} {
			for _, t := range list {
				if w.CanBeMisspelled() && near(t, w.Text) && !slices.Contains(w.Forms, t) {
					found[t] = true
				}
			}
		}
	}
	return slices.Collect(keys(found))
}

func keys(m map[string]bool) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

type model struct{ all []*modelEntity }

// search returns all hits of the first level that has any.
// It is not known when a word may be more terms than the engine looks at.
func (m model) search(q search.Query) (hits []modelHit, isKnown bool) {
	plain := query.ParsePlain(q.Text, entityFields.Search)
	words := plain.Words
	for level := query.AllWords; level <= query.SomeWords && len(words) > 0; level++ {
		for i := range words {
			if level > query.AllWords {
				if words[i].Typos = m.typos(words[i]); len(words[i].Typos) > maxTypos {
					return nil, false
				}
			}
		}
		for n, e := range m.all {
			if h, ok := m.weigh(e, n, q, plain, level); ok {
				hits = append(hits, h)
			}
		}
		if len(hits) > 0 {
			slices.SortFunc(hits, func(a, b modelHit) int { return a.compare(b, 0) })
			return hits, true
		}
	}
	return nil, true
}

func (m model) weigh(e *modelEntity, n int, q search.Query, plain query.Plain, level query.Leniency) (modelHit, bool) {
	h := modelHit{e: e, n: n}
	if q.Language != "" && e.r.Language != q.Language || q.EntityType != "" && e.r.EntityType != q.EntityType ||
		q.EntityType == "" && e.r.EntityType == codesage.EntityImport {
		return h, false
	}
	covered, typed, tiers := 0, 0, 0
	words := plain.Words
	for _, w := range words {
		terms := append([]string{w.Text}, w.Forms...)
		points := e.match(w, terms, len(words), true)
		if points > 0 {
			typed++
		}
		points = max(points, e.match(w, w.Typos, len(words), false))
		if points > 0 {
			covered++
		}
		tiers += points
		h.fraction += m.bm25(e, terms)
	}
	if covered == 0 || level != query.SomeWords && covered < len(words) {
		return h, false
	}
	if level == query.AllWords {
		typed = 0
	}
	h.key = [5]int{e.named(plain), covered, typed, e.focus(words), tiers}
	return h, true
}

// named says how a query names an entity.
func (e *modelEntity) named(p query.Plain) int {
	name, best := e.r.EntityName, 0
	switch {
	case name == p.Text:
		return 5
	case index.Fold(name) == index.Fold(p.Text):
		return 4
	case exactName(name) == exactName(p.Text):
		best = 1
	}
	for _, q := range p.Names {
		inPlace := func(t string) bool { return slices.Contains(e.place.whole, t) }
		isIn := true
		for _, t := range q.Owner {
			isIn = isIn && inPlace(t)
		}
		for _, t := range q.Outer {
			isIn = isIn && (inPlace(t) || e.path[t])
		}
		switch {
		case isIn && name == q.Written:
			best = max(best, 3)
		case isIn && exactName(name) == q.Name:
			best = max(best, 2)
		}
	}
	return best
}

// focus says how well name and place together have the words of a query.
func (e *modelEntity) focus(words []query.Word) (focus int) {
	if len(words) < 2 || len(words) > 6 {
		return 0
	}
	var inPlace []bool
	each := true
	for _, w := range words {
		terms := append([]string{w.Text}, w.Forms...)
		inPlace = append(inPlace, slices.ContainsFunc(terms, e.place.has))
		each = each && (inPlace[len(inPlace)-1] || e.match(w, terms, len(words), true) >= 4)
	}
	if each && e.r.IsTest == 0 {
		focus = 1
	}
	for i := range words {
		for j := i + 1; j <= min(len(words), i+4); j++ {
			name := ""
			for _, w := range words[i:j] {
				name += w.Text
			}
			others := slices.Concat(inPlace[:i], inPlace[j:])
			switch {
			case name != exactName(e.r.EntityName) || !slices.Contains(others, true):
			case !slices.Contains(others, false):
				focus = 2
			case e.r.IsTest == 0:
				focus = max(focus, 1)
			}
		}
	}
	return focus
}

func (m model) bm25(e *modelEntity, terms []string) (sum float64) {
	for _, f := range []struct {
		weight float64
		get    func(e *modelEntity) []string
	}{
		{4, func(e *modelEntity) []string { return e.name.whole }}, {3, func(e *modelEntity) []string { return e.name.parts }},
		{1.5, func(e *modelEntity) []string { return e.text.whole }}, {1, func(e *modelEntity) []string { return e.text.parts }},
		{1, func(e *modelEntity) []string { return e.body.whole }}, {.5, func(e *modelEntity) []string { return e.body.parts }},
	} {
		for _, term := range terms {
			df, total := 0., 0.
			for _, o := range m.all {
				total += float64(len(f.get(o)))
				if slices.Contains(f.get(o), term) {
					df++
				}
			}
			tf := 0.
			for _, s := range f.get(e) {
				if s == term {
					tf++
				}
			}
			n := float64(len(m.all))
			idf := math.Log(1 + (n-df+.5)/(df+.5))
			if tf > 0 {
				sum += f.weight * idf * 2.2 * tf / (tf + 1.2*(.25+.75*float64(len(f.get(e)))/(total/n)))
			}
		}
	}
	return sum
}

// compare is negative when a comes first. Fractions that differ by at most slack
// are equal.
func (a modelHit) compare(b modelHit, slack float64) int {
	for i := range a.key {
		if n := cmp.Compare(b.key[i], a.key[i]); n != 0 {
			return n
		}
	}
	if n := cmp.Or(cmp.Compare(a.e.r.IsTest, b.e.r.IsTest), cmp.Compare(b.e.r.RankWeight, a.e.r.RankWeight)); n != 0 {
		return n
	}
	if math.Abs(a.fraction-b.fraction) > slack {
		return cmp.Compare(b.fraction, a.fraction)
	}
	if slack > 0 && a.fraction != b.fraction {
		return 0
	}
	return cmp.Or(strings.Compare(a.e.r.FilePath, b.e.r.FilePath), cmp.Compare(a.e.repo, b.e.repo),
		cmp.Compare(a.e.r.LineStart, b.e.r.LineStart), cmp.Compare(a.n, b.n))
}

func TestSearchEqualsModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := corpus{rand.New(rand.NewPCG(seed, 1))}
			x := openTest(t, Options{Budget: 1 << 14})
			scope, m := c.build(t, x)
			for compared := 0; compared < 60; {
				q := c.query()
				q.Scope = scope
				if want, isKnown := m.search(q); isKnown {
					compareToModel(t, x, want, q)
					compared++
				}
			}
		})
	}
}

// build indexes two repositories, one of them in several runs.
func (c corpus) build(t *testing.T, x *Index) (scope []codesage.Snapshot, m model) {
	for repo := codesage.RepositoryID(1); repo <= 2; repo++ {
		files := map[string][]search.Record{}
		runs := 1 + 3*codesage.RunID(2-repo)
		for run := codesage.RunID(1); run <= runs; run++ {
			w, err := x.Begin(t.Context(), codesage.Repository{ID: repo}, run-1, codesage.Run{ID: run})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 12 {
				path := fmt.Sprintf("%s/%s/f%d.go", modelWords[i%3], modelWords[i%4], c.rnd.IntN(4))
				if files[path] != nil && c.rnd.IntN(3) == 0 {
					delete(files, path)
					err = w.Delete(t.Context(), path, 0)
				} else {
					files[path] = c.records(repo, run, path)
					err = w.Put(t.Context(), path, 0, files[path])
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		scope = append(scope, codesage.Snapshot{Repository: repo, Run: runs})
		for _, records := range files {
			for _, r := range records {
				m.all = append(m.all, newModelEntity(r))
			}
		}
	}
	return scope, m
}

func compareToModel(t *testing.T, x *Index, want []modelHit, q search.Query) {
	t.Helper()
	byID := map[string]modelHit{}
	for _, h := range want {
		byID[h.e.r.ObjectID] = h
	}
	var got []modelHit
	for q.Page = 0; ; q.Page++ {
		r, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("search %+v: %v", q, err)
		}
		if r.TotalHits != len(want) {
			t.Fatalf("search %q (%s, %s): %d hits, want %d", q.Text, q.Language, q.EntityType, r.TotalHits, len(want))
		}
		for _, record := range r.Hits {
			h, ok := byID[record.ObjectID]
			if !ok || h.e.r != record {
				t.Fatalf("search %q: got %+v, which is no hit of the model", q.Text, record)
			}
			got = append(got, h)
		}
		if len(r.Hits) == 0 {
			break
		}
	}
	for i := 1; i < len(got); i++ {
		if a, b := got[i-1], got[i]; a.compare(b, 1e-3) > 0 || a.n == b.n {
			t.Fatalf("search %q: hit %d is %v %.6f %s, after %v %.6f %s", q.Text, i, b.key, b.fraction, b.e.r.ObjectID, a.key, a.fraction, a.e.r.ObjectID)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("search %q: %d hits on its pages, want %d", q.Text, len(got), len(want))
	}
}
