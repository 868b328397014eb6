package algoliatest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codesage/search/index"
	"codesage/search/query"
)

// A field is the words of one searchable attribute.
type field struct {
	group int             // 0 is the best
	words map[string]bool // words, and where camelCase is split the humps and runs of them
	whole string          // all letters and digits, for the first group
}

func tokens(text string) (list []string) {
	for t := range index.Tokens(text) {
		list = append(list, text[t.Start:t.End])
	}
	return list
}

var analysis = query.Analysis{Tokens: tokens, Fold: index.Fold, Parts: index.PartsOf}

func (s settings) fieldsOf(r record) (list []field) {
	for group, names := range s.groups {
		for _, name := range names {
			text, _ := r[name].(string)
			f := field{group: group, words: map[string]bool{}}
			var humps []string
			for _, t := range tokens(text) {
				f.words[index.Fold(t)] = true
				humps = append(humps, humpsOf(t)...)
			}
			if group == 0 {
				f.whole = wholeOf(text)
			}
			if slices.Contains(s.camelCase, name) {
				addRuns(f.words, humps)
			}
			list = append(list, f)
		}
	}
	return list
}

func wholeOf(text string) string { return index.Fold(strings.Join(tokens(text), "")) }

// Runs of more humps, or of more bytes, are no words of their own.
const (
	maxHumps = 12
	maxRun   = 64
)

// addRuns adds the runs of neighbouring humps, each as one word.
func addRuns(words map[string]bool, humps []string) {
	humps = humps[:min(len(humps), maxHumps)]
	for i := range humps {
		run := ""
		for _, h := range humps[i:] {
			if run += h; len(run) > maxRun {
				break
			}
			words[index.Fold(run)] = true
		}
	}
}

// humpsOf cuts a word where its case or its kind of character changes.
func humpsOf(word string) (humps []string) {
	rs := []rune(word)
	start := 0
	for i := 1; i < len(rs); i++ {
		isHump := unicode.IsUpper(rs[i]) && !unicode.IsUpper(rs[i-1]) || unicode.IsDigit(rs[i]) != unicode.IsDigit(rs[i-1]) ||
			i+1 < len(rs) && unicode.IsUpper(rs[i]) && unicode.IsLower(rs[i+1])
		if isHump {
			humps, start = append(humps, string(rs[start:i])), i
		}
	}
	return append(humps, string(rs[start:]))
}

// A plan is how a query is matched.
type plan struct {
	words       []query.Word
	whole       string
	groups      int
	isSomeWords bool // words may miss when nothing has all
	hasTypos    bool
	typoLetters int // the letters of a word that may have a typo
}

func (x *store) plan(text string, params map[string]any) plan {
	p := plan{
		whole: wholeOf(text), groups: len(x.settings.groups), typoLetters: intOf(params, "minWordSizefor1Typo", 4),
		isSomeWords: params["removeWordsIfNoResults"] == "allOptional", hasTypos: params["typoTolerance"] != false,
	}
	if params["removeStopWords"] == true {
		p.words = query.PlainWords(text, analysis)
	} else {
		for _, t := range tokens(text) {
			p.words = append(p.words, query.Word{Text: index.Fold(t)})
		}
	}
	if params["ignorePlurals"] != true {
		for i := range p.words {
			p.words[i].Forms = nil
		}
	}
	return p
}

// rank returns what matches, best first. A query without words matches all.
func (x *store) rank(list []*object, text string, params map[string]any) []*object {
	p := x.plan(text, params)
	if len(p.words) == 0 {
		slices.SortStableFunc(list, x.byRanking)
		return list
	}
	for level := query.AllWords; level <= query.SomeWords; level++ {
		if level == query.OneTypo && !p.hasTypos || level == query.SomeWords && !p.isSomeWords {
			continue
		}
		if hits := x.rankAt(list, p, level); len(hits) > 0 {
			return hits
		}
	}
	return nil
}

func (x *store) rankAt(list []*object, p plan, level query.Leniency) []*object {
	keys := map[*object][4]int{}
	var hits []*object
	for _, o := range list {
		if key, ok := p.weigh(o, level); ok {
			keys[o] = key
			hits = append(hits, o)
		}
	}
	slices.SortStableFunc(hits, func(a, b *object) int {
		ka, kb := keys[a], keys[b]
		if n := slices.Compare(kb[:], ka[:]); n != 0 {
			return n
		}
		return x.byRanking(a, b)
	})
	return hits
}

// byRanking compares by the custom ranking.
func (x *store) byRanking(a, b *object) int {
	for _, by := range x.settings.ranking {
		va, _ := a.record[by.attribute].(float64)
		vb, _ := b.record[by.attribute].(float64)
		if by.isDesc {
			va, vb = vb, va
		}
		if n := cmp.Compare(va, vb); n != 0 {
			return n
		}
	}
	return 0
}

// weigh returns, for a record that matches: whether its name is the query, how
// many words match, how many of them without a typo, and the sum of the best
// attributes.
func (p plan) weigh(o *object, level query.Leniency) (key [4]int, ok bool) {
	covered, typed, points := 0, 0, 0
	for _, w := range p.words {
		best := p.points(o, w, false)
		if best > 0 {
			typed++
		}
		if level > query.AllWords {
			best = max(best, p.points(o, w, true))
		}
		if best > 0 {
			covered++
		}
		points += best
	}
	if covered == 0 || level != query.SomeWords && covered < len(p.words) {
		return key, false
	}
	isNamed := 0
	if len(o.fields) > 0 && o.fields[0].whole == p.whole {
		isNamed = 1
	}
	if level == query.AllWords {
		typed = 0
	}
	return [4]int{isNamed, covered, typed, points}, true
}

// points weighs the best attribute that has a word; the word as typed in the
// first attribute counts one more.
func (p plan) points(o *object, w query.Word, isTypo bool) (best int) {
	for _, f := range o.fields {
		switch {
		case isTypo && p.hasTypo(f, w), !isTypo && f.has(w):
			best = max(best, p.groups-f.group)
		}
		if !isTypo && f.group == 0 && f.words[w.Text] {
			best = max(best, p.groups+1)
		}
	}
	return best
}

func (f field) has(w query.Word) bool {
	if f.words[w.Text] {
		return true
	}
	for _, form := range w.Forms {
		if f.words[form] {
			return true
		}
	}
	hasAll := len(w.Parts) > 0
	for _, part := range w.Parts {
		hasAll = hasAll && f.words[part]
	}
	if hasAll || !w.Prefix {
		return hasAll
	}
	for word := range f.words {
		if strings.HasPrefix(word, w.Text) {
			return true
		}
	}
	return false
}

func (p plan) hasTypo(f field, w query.Word) bool {
	if utf8.RuneCountInString(w.Text) < p.typoLetters {
		return false
	}
	for word := range f.words {
		if isNear(word, w.Text) {
			return true
		}
	}
	return false
}

// isNear reports whether two words are one typo apart.
func isNear(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if a == b || len(y)-len(x) > 1 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	if len(y) > len(x) {
		return string(x[i:]) == string(y[i+1:])
	}
	return string(x[i+1:]) == string(y[i+1:]) ||
		i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && string(x[i+2:]) == string(y[i+2:])
}
