// Package chunk cuts text into overlapping windows. Sizes are code points,
// positions are bytes. Borders ignore lines and words and never stand inside a
// code point.
package chunk

import (
	"iter"
	"slices"
	"unicode/utf8"

	"codesage"
)

// Cut returns the chunks of a text. See All.
func Cut(text string, size, overlap int) []codesage.Chunk {
	return slices.Collect(All(text, size, overlap))
}

// All yields the chunks of a text in order. Chunk i covers the code points from
// i*step up to size of them, where step is size-overlap and at least 1; the last
// chunk is the last one that starts inside the text, even when the one before
// covers it whole. So a text of n code points has ceil(n/step) chunks and an
// empty one has none. A size below 1 counts as 1, an overlap below 0 as 0. A
// byte that is not UTF-8 counts as one code point.
func All(text string, size, overlap int) iter.Seq[codesage.Chunk] {
	size = max(size, 1)
	step := max(size-max(overlap, 0), 1)
	return func(yield func(codesage.Chunk) bool) {
		head, tail := cursor{text: text}, cursor{text: text}
		tail.advance(size)
		for i := 0; head.at < len(text); i++ {
			c := codesage.Chunk{
				Index:     i,
				Start:     head.at,
				End:       tail.at,
				LineStart: head.breaks + 1,
				LineEnd:   tail.breaks + 1,
			}
			if text[tail.at-1] == '\n' {
				c.LineEnd-- // the LF is the last byte of its own line
			}
			if !yield(c) {
				return
			}
			head.advance(step)
			tail.advance(step)
		}
	}
}

// cursor is a place in a text, with the number of LFs before it.
type cursor struct {
	text   string
	at     int
	breaks int
}

// advance moves by n code points, or to the end.
func (c *cursor) advance(n int) {
	for ; n > 0 && c.at < len(c.text); n-- {
		b := c.text[c.at]
		switch {
		case b == '\n':
			c.breaks++
			c.at++
		case b < utf8.RuneSelf:
			c.at++
		default:
			_, w := utf8.DecodeRuneInString(c.text[c.at:])
			c.at += w
		}
	}
}
