package codesage

import (
	"sort"
	"strings"
)

// CountLines returns the number of lines of a text. A line ends at LF; a last
// line without one counts; an empty text has none. No other character ends a
// line.
func CountLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// LineIndex finds the lines of one text. Every part of the program counts lines
// through it or by CountLines, so that all agree. It is safe for concurrent use.
type LineIndex struct {
	text   string
	starts []int // first byte of each line
}

// NewLineIndex returns the index of a text.
func NewLineIndex(text string) *LineIndex {
	starts := make([]int, 0, CountLines(text))
	for at := 0; at < len(text); {
		starts = append(starts, at)
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return &LineIndex{text: text, starts: starts}
}

// Lines returns the number of lines.
func (x *LineIndex) Lines() int { return len(x.starts) }

// Line returns the 1-based line on which the byte at offset stands; a line's LF
// belongs to it. An offset before the text gives the first line and one at or
// past its end gives the last; a text without lines gives 0.
func (x *LineIndex) Line(offset int) int {
	n := sort.SearchInts(x.starts, offset+1)
	if n == 0 && len(x.starts) > 0 {
		return 1
	}
	return n
}

// Start returns the first byte of a 1-based line. Lines before the first start
// at 0, lines past the last at the end of the text.
func (x *LineIndex) Start(line int) int {
	switch {
	case line < 1:
		return 0
	case line > len(x.starts):
		return len(x.text)
	}
	return x.starts[line-1]
}

// Range returns the bytes of a 1-based line without its LF and without a CR
// before that: end is exclusive. A line that does not exist is empty.
func (x *LineIndex) Range(line int) (start, end int) {
	start = x.Start(line)
	if line < 1 || line > len(x.starts) {
		return start, start
	}
	end = x.Start(line + 1)
	if end > start && x.text[end-1] == '\n' {
		end--
		if end > start && x.text[end-1] == '\r' {
			end--
		}
	}
	return start, end
}

// Text returns a 1-based line without its end; empty when there is no such line.
func (x *LineIndex) Text(line int) string {
	start, end := x.Range(line)
	return x.text[start:end]
}
