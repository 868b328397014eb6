package tools

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes a text of others, such as the name of a file, a piece of a line
// that shows what is there: control characters, what breaks lines, what turns
// the direction of writing and bytes that are no UTF-8 are written as in Go:
// \n, \x1b, \u2028. Everything else stays as it is.
func OneLine(text string) string {
	if strings.IndexFunc(text, isUnsafe) < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		piece := text[i : i+n]
		if isUnsafe(r) && piece != string(utf8.RuneError) {
			piece = strconv.QuoteToASCII(piece)
			piece = piece[1 : len(piece)-1]
		}
		b.WriteString(piece)
		i += n
	}
	return b.String()
}

// isUnsafe reports whether a character must not stand in a line as it is, or may
// be a byte that is none.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == utf8.RuneError
}

// Original returns the text of which OneLine made one with escapes, or the text
// itself when there are none.
func Original(line string) string {
	var b strings.Builder
	for rest := line; rest != ""; {
		if rest[0] == '\\' {
			if r, isRune, tail, err := strconv.UnquoteChar(rest, 0); err == nil && (isUnsafe(r) || !isRune && r >= utf8.RuneSelf) {
				if isRune {
					b.WriteRune(r)
				} else {
					b.WriteByte(byte(r))
				}
				rest = tail
				continue
			}
		}
		_, n := utf8.DecodeRuneInString(rest)
		b.WriteString(rest[:n])
		rest = rest[n:]
	}
	return b.String()
}
