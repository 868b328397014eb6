package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Analysis is how an index cuts texts into terms. It comes in as functions
// because the index imports this package.
type Analysis struct {
	Tokens func(text string) []string // words as written
	Fold   func(word string) string   // a word as a term
	Parts  func(word string) []string // the terms of an identifier's parts
}

// A FieldGroup is a field with the words of a text, and the one with the parts
// of its identifiers.
type FieldGroup struct{ Whole, Parts int }

// EntityFields are the fields of an entity index, best first.
type EntityFields struct {
	Name  FieldGroup
	Joins int        // neighbouring parts of the name as single terms
	Place FieldGroup // what the entity is in: its owner, folder and file
	Text  FieldGroup
	Body  FieldGroup // the path, which has no number, stands before it

	Written int // keyword: the name as it is
	Folded  int // keyword: the name in lower case
	Exact   int // keyword: the name in lower case, without separators
	Test    int // attribute: 0 for source

	Search Analysis
}

// A Word is a word of a plain query, with what else may stand for it.
type Word struct {
	Text   string   // the term
	Forms  []string // plural, singular and verb forms of it
	Parts  []string // of an identifier that was typed as one word
	Typos  []string // terms that it may be a misspelling of, set by the caller
	Prefix bool     // longer terms that begin with it match too
}

// Limits of a plain query: words beyond are ignored.
const (
	maxPlainWords = 16
	minTypoLetter = 5 // letters of a word that may be misspelled
	minBodyPrefix = 3 // letters of a prefix that is looked for in bodies
)

// A Plain is a query of plain words and names.
type Plain struct {
	Text  string // without space around it
	Words []Word
	Names []QualifiedName
}

// ParsePlain reads a plain query. Every text has an answer; one without letters
// and digits has no words. Stop words are left out unless there are no others or
// they are parts of a qualified name, as in errors.Is.
func ParsePlain(text string, a Analysis) Plain {
	p := Plain{Text: strings.TrimSpace(text)}
	var words wordList
	for _, s := range stretches(text) {
		use := dropStops
		if s.isName() {
			use = keepStops
		}
		words.add(s.text, use, a)
		if len(s.parts) == 0 || len(p.Names) == maxNames {
			continue
		}
		if name, ok := s.name(a); ok {
			p.Names = append(p.Names, name)
		}
	}
	p.Words = words.list()
	return p
}

// PlainWords cuts a query into its words, each once. Stop words are left out
// unless there are no others. The last word counts as a prefix.
func PlainWords(text string, a Analysis) []Word {
	var words wordList
	words.add(text, dropStops, a)
	return words.list()
}

// A wordList gathers the words of a query, each once.
type wordList struct{ words, stops []Word }

// stopUse says what the stop words of a text are.
type stopUse int

const (
	dropStops stopUse = iota // words for a query that has no others
	keepStops                // words like others
)

// add adds the words of a text.
func (l *wordList) add(text string, use stopUse, a Analysis) {
	for _, token := range a.Tokens(text) {
		term := a.Fold(token)
		list := &l.words
		if stopWords[term] && use == dropStops {
			list = &l.stops
		}
		if !slices.ContainsFunc(*list, func(w Word) bool { return w.Text == term }) {
			*list = append(*list, Word{Text: term, Forms: forms(term), Parts: wordParts(token, a)})
		}
	}
}

// list returns the words, of which the last counts as a prefix.
func (l *wordList) list() []Word {
	words := l.words
	if len(words) == 0 {
		words = l.stops
	}
	words = words[:min(len(words), maxPlainWords)]
	if len(words) > 0 {
		words[len(words)-1].Prefix = true
	}
	return words
}

// CanBeMisspelled reports whether a word is long enough for one typo.
func (w Word) CanBeMisspelled() bool { return utf8.RuneCountInString(w.Text) >= minTypoLetter }

// wordParts returns the parts of an identifier when it has several.
func wordParts(token string, a Analysis) []string {
	parts := a.Parts(token)
	slices.Sort(parts)
	if parts = slices.Compact(parts); len(parts) < 2 {
		return nil
	}
	return parts
}

// forms returns the English plural and singular forms that a word may have, and
// what a word in -ed or -ing may come from.
func forms(w string) []string {
	n := len(w)
	if n < 3 || w[n-1] < 'a' || w[n-1] > 'z' {
		return nil
	}
	switch {
	case strings.HasSuffix(w, "ies") && n > 4:
		return []string{w[:n-3] + "y", w[:n-1]}
	case strings.HasSuffix(w, "es") && n > 4 && sibilant(w[:n-2]):
		return []string{w[:n-2], w[:n-1]}
	case strings.HasSuffix(w, "ss"):
		return []string{w + "es"}
	case w[n-1] == 's' && n > 3:
		return []string{w[:n-1]}
	case sibilant(w):
		return []string{w + "es"}
	case w[n-1] == 'y' && !isVowel(w[n-2]):
		return []string{w[:n-1] + "ies"}
	case strings.HasSuffix(w, "ied") && n > 4:
		return []string{w[:n-3] + "y"}
	case strings.HasSuffix(w, "ed") && n > 5:
		return verbs(w[:n-2])
	case strings.HasSuffix(w, "ing") && n > 6:
		return append(verbs(w[:n-3]), w+"s")
	}
	return []string{w + "s"}
}

// verbs returns the verbs whose forms in -ed and -ing begin so: hash, cache and
// stop for hash, cach and stopp.
func verbs(stem string) []string {
	n := len(stem)
	if n > 2 && stem[n-1] == stem[n-2] && !isVowel(stem[n-1]) {
		return []string{stem, stem[:n-1]}
	}
	return []string{stem, stem + "e"}
}

func isVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

// sibilant reports whether a word takes -es.
func sibilant(w string) bool {
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(w, end) {
			return true
		}
	}
	return false
}

// stopWords are English words that say nothing about code.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a about an and any are as at be been being but by can could did do does doing
		done for from had has have having he her here him his how i if in into is it its itself just me my no nor not of
		on or our out shall she should so some such than that the their them then there these they this those to too
		us very was we were what when where which while who whom whose why will with would you your`) {
		m[w] = true
	}
	return m
}()
