package index

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// A Token is a word of a text.
type Token struct {
	Start, End int // byte range in the text
}

// Tokens returns the tokens of a text in order: the maximal runs of characters
// that are alphabetic or numeric in Unicode's sense. Everything else separates,
// the underscore too. The term of a token is Fold of its text.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for i := 0; ; {
			start, end := nextToken(text, i)
			if start == len(text) || !yield(Token{start, end}) {
				return
			}
			i = end
		}
	}
}

// Words returns the terms of a text in order: its tokens, folded.
func Words(text string) []string {
	var words []string
	for t := range Tokens(text) {
		words = append(words, Fold(text[t.Start:t.End]))
	}
	return words
}

// Fold returns s in lower case, character by character: the form in which
// tokens and parts are indexed.
func Fold(s string) string { return string(appendFold(nil, s)) }

// PartsOf returns the parts of an identifier, folded, in order: the words
// between underscores and other separators, the humps of camelCase
// ("HTTPServer" gives http and server), and the runs of letters and digits of
// a hump that has both ("base64Encode" gives base64, base, 64, encode). Parts
// of one character, and a part that is the whole identifier, are left out.
func PartsOf(identifier string) []string {
	var parts []string
	eachPart(identifier, func(p string) { parts = append(parts, Fold(p)) })
	return parts
}

// Byte classes. Bytes at or above utf8.RuneSelf are decoded as runes.
const (
	classSep = iota
	classLower
	classUpper
	classDigit
	classOther // a letter without case
	classWide
)

var classOf = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = classLower
		case c >= 'A' && c <= 'Z':
			t[c] = classUpper
		case c >= '0' && c <= '9':
			t[c] = classDigit
		case c >= utf8.RuneSelf:
			t[c] = classWide
		}
	}
	return t
}()

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r)
}

// nextToken returns the bounds of the first token of s at or after i, which
// must not lie inside one. It returns start == len(s) when there is none.
func nextToken(s string, i int) (start, end int) {
	for i < len(s) {
		switch c := classOf[s[i]]; c {
		case classSep:
			i++
		case classWide:
			r, n := utf8.DecodeRuneInString(s[i:])
			if isWord(r) {
				return i, tokenEnd(s, i+n)
			}
			i += n
		default:
			return i, tokenEnd(s, i+1)
		}
	}
	return len(s), len(s)
}

func tokenEnd(s string, i int) int {
	for i < len(s) {
		switch classOf[s[i]] {
		case classSep:
			return i
		case classWide:
			r, n := utf8.DecodeRuneInString(s[i:])
			if !isWord(r) {
				return i
			}
			i += n
		default:
			i++
		}
	}
	return i
}

// appendFold appends s in lower case to dst. The dotted capital I is the one
// character whose lower case is two.
func appendFold(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			for _, r := range s[i:] {
				if r == 'İ' {
					dst = append(dst, "i̇"...)
					continue
				}
				dst = utf8.AppendRune(dst, unicode.ToLower(r))
			}
			return dst
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// eachPart calls emit for each part of an identifier, as it is written.
func eachPart(id string, emit func(part string)) {
	start, prev := 0, uint8(classSep)
	for i := 0; i < len(id); {
		c, n := classAt(id, i)
		switch {
		case c == classSep:
			emitHump(id, start, i, emit)
			start = i + n
		case i > start && c == classUpper && prev != classUpper:
			emitHump(id, start, i, emit)
			start = i
		case i > start && c == classLower && prev == classUpper:
			// The upper-case letter before this one begins the new hump.
			_, w := utf8.DecodeLastRuneInString(id[:i])
			if i-w > start {
				emitHump(id, start, i-w, emit)
				start = i - w
			}
		}
		prev = c
		i += n
	}
	emitHump(id, start, len(id), emit)
}

// emitHump emits one hump, and its runs of letters and of digits.
func emitHump(id string, start, end int, emit func(string)) {
	emitPart(id, start, end, emit)
	run, prev := start, uint8(classSep)
	for i := start; i < end; {
		c, n := classAt(id, i)
		if i > start && (c == classDigit) != (prev == classDigit) {
			emitPart(id, run, i, emit)
			run = i
		}
		prev = c
		i += n
	}
	if run > start {
		emitPart(id, run, end, emit)
	}
}

func emitPart(id string, start, end int, emit func(string)) {
	if end-start == len(id) || end <= start {
		return
	}
	if _, n := utf8.DecodeRuneInString(id[start:end]); n < end-start {
		emit(id[start:end])
	}
}

// classAt returns the class of the character of s at i, and its length.
func classAt(s string, i int) (class uint8, n int) {
	if c := classOf[s[i]]; c != classWide {
		return c, 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case unicode.IsUpper(r):
		return classUpper, n
	case unicode.IsLower(r):
		return classLower, n
	case unicode.IsDigit(r):
		return classDigit, n
	case isWord(r):
		return classOther, n
	}
	return classSep, n
}
