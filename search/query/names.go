package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A QualifiedName is a word such as json.Decoder, Server::start or net/http.Get:
// a name, and what it is in.
type QualifiedName struct {
	Written string   // the name as it was typed
	Name    string   // without separators, as a term
	Owner   []string // the terms of the part right before the name
	Outer   []string // the terms of the parts before that
}

// Limits of the qualified names of a query: what is beyond counts as words only.
const (
	maxNames = 4
	maxOuter = 8
)

// qualifiers stand between the parts of a qualified name, with nothing around
// them. Longer ones come first.
var qualifiers = []string{").", "?.", "::", "->", ".", "#", "/", `\`}

// A stretch is a piece of a query: a qualified name, or what stands between two.
type stretch struct {
	text    string
	parts   []string // of a qualified name
	slashed bool     // with slashes only: prose may have it too, as in and/or
}

// isName reports whether the stretch is no prose.
func (s stretch) isName() bool { return len(s.parts) > 0 && !s.slashed }

// stretches cuts a query into its qualified names and the rest. No word is cut.
func stretches(text string) (list []stretch) {
	plain := 0
	for i := 0; i < len(text); {
		start, n := i, identifier(text[i:])
		if n == 0 {
			_, n = utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		s := stretch{parts: []string{text[i : i+n]}, slashed: true}
		for i += n; ; {
			q := qualifier(text[i:])
			n := identifier(text[i+len(q):])
			if q == "" || n == 0 {
				break
			}
			s.slashed = s.slashed && q == "/"
			i += len(q)
			s.parts = append(s.parts, text[i:i+n])
			i += n
		}
		if len(s.parts) > 1 {
			s.text = text[start:i]
			list = append(list, stretch{text: text[plain:start]}, s)
			plain = i
		}
	}
	return append(list, stretch{text: text[plain:]})
}

func qualifier(text string) string {
	for _, q := range qualifiers {
		if strings.HasPrefix(text, q) {
			return q
		}
	}
	return ""
}

// identifier returns the length of the identifier at the beginning of a text.
func identifier(text string) int {
	for i, r := range text {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.Other_Alphabetic, r) {
			return i
		}
	}
	return len(text)
}

// name makes a qualified name of a stretch that is one.
func (s stretch) name(a Analysis) (q QualifiedName, ok bool) {
	last := len(s.parts) - 1
	q.Written = s.parts[last]
	q.Name = exactName(q.Written, a)
	q.Owner = terms(s.parts[last-1], a)
	for _, p := range s.parts[:last-1] {
		q.Outer = append(q.Outer, terms(p, a)...)
	}
	q.Outer = q.Outer[max(0, len(q.Outer)-maxOuter):]
	return q, q.Name != "" && len(q.Owner) > 0 && len(q.Owner) <= maxOuter
}

func terms(text string, a Analysis) (list []string) {
	for _, t := range a.Tokens(text) {
		list = append(list, a.Fold(t))
	}
	return list
}

// exactName is the form in which names are equal as tokens.
func exactName(s string, a Analysis) string { return a.Fold(strings.Join(a.Tokens(s), "")) }
