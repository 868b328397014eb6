package store

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold maps a name to the form in which names are compared when case is
// ignored: two names that differ only in case, by Unicode's simple folding,
// have the same form.
func Fold(name string) string { return strings.Map(foldRune, name) }

// foldRune returns the lower-case letter of ASCII, else the smallest of the
// runes that differ only in case.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	if smallest < utf8.RuneSelf {
		return unicode.ToLower(smallest) // the Kelvin sign is a k, the long s an s
	}
	return smallest
}

// PrefixEnd returns the first string, in byte order, after all that begin with
// prefix. ok is false when there is none, which is so for the empty prefix.
func PrefixEnd(prefix string) (end string, ok bool) {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch next := runes[i] + 1; {
		case next > unicode.MaxRune:
			continue
		case next == 0xD800: // surrogates have no UTF-8 form
			return string(runes[:i]) + string(rune(0xE000)), true
		default:
			return string(runes[:i]) + string(next), true
		}
	}
	return "", false
}
