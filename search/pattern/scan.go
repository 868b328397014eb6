package pattern

import (
	"strings"
	"time"
)

// Scan calls found for each line of the text that matches, in order, with its
// 1-based number and its text without the line end, until found returns false.
// A line ends at LF, and a CR before it is not part of the line. It returns
// ErrTimeout when the deadline passes first; a zero deadline is none.
func (m *Matcher) Scan(text string, deadline time.Time, found func(line int, text string) bool) error {
	number := 1
	for at := 0; at < len(text); {
		if !deadline.IsZero() && time.Now().After(deadline) {
			return ErrTimeout
		}
		end := windowEnd(text, at)
		// Nothing before the first possible match needs to be looked at, line by line.
		start := m.possible(text[at:end])
		if start < 0 {
			number += strings.Count(text[at:end], "\n")
			at = end
			continue
		}
		skipped := strings.LastIndexByte(text[at:at+start], '\n') + 1
		number += strings.Count(text[at:at+skipped], "\n")
		at += skipped
		line, next := cutLine(text, at)
		ok, err := m.MatchLine(line, deadline)
		if err != nil {
			return err
		}
		if ok && !found(number, line) {
			return nil
		}
		at = next
		number++
	}
	return nil
}

// possible returns where in a text of whole lines the first match may begin, or
// -1 when no line of it can match.
func (m *Matcher) possible(text string) int {
	switch {
	case !m.isRegex:
		return strings.Index(text, m.literal)
	case m.loose == nil || m.loose.large || len(text) > 2*window:
		return 0
	}
	if loc := m.loose.re.FindStringIndex(text); loc != nil {
		return loc[0]
	}
	return -1
}

// windowEnd returns where a window that begins at a line ends: behind a line,
// or at the end of the text.
func windowEnd(text string, at int) int {
	if len(text)-at <= window {
		return len(text)
	}
	if lf := strings.LastIndexByte(text[at:at+window], '\n'); lf >= 0 {
		return at + lf + 1
	}
	if lf := strings.IndexByte(text[at+window:], '\n'); lf >= 0 {
		return at + window + lf + 1
	}
	return len(text)
}

// cutLine returns the line that begins at a byte, and where the next begins.
func cutLine(text string, at int) (line string, next int) {
	lf := strings.IndexByte(text[at:], '\n')
	if lf < 0 {
		return text[at:], len(text)
	}
	return strings.TrimSuffix(text[at:at+lf], "\r"), at + lf + 1
}
