package sessions

import (
	"sort"
	"strings"
	"unicode"

	"codesage"
)

// scan finds the lines of a text that hold a whole occurrence of a symbol, with
// the pattern that each fits and what its text alone tells of it.
func scan(text, symbol, kind string) []reference {
	if !strings.Contains(text, symbol) {
		return nil
	}
	lines := codesage.NewLineIndex(text)
	var found []reference
	for at := 0; ; {
		next := strings.Index(text[at:], symbol)
		if next < 0 {
			break
		}
		start := at + next
		end := start + len(symbol)
		if !isWhole(text, start, end) {
			at = start + 1
			continue
		}
		at = end
		n := lines.Line(start)
		if _, to := lines.Range(n); end > to {
			continue // it goes on in the next line
		}
		if last := len(found) - 1; last < 0 || found[last].line != n {
			found = append(found, reference{line: n})
		}
		r := &found[len(found)-1]
		r.places = append(r.places, start)
	}
	for i := range found {
		r := &found[i]
		from, to := lines.Range(r.line)
		o := occurrences{line: text[from:to], length: len(symbol)}
		for _, place := range r.places {
			o.places = append(o.places, place-from)
		}
		r.pattern, r.base = o.classify(kind)
		r.text = o.marks()
	}
	return found
}

// isWhole reports whether text[start:end] is not a piece of a longer identifier.
func isWhole(text string, start, end int) bool {
	return (start == 0 || !isIdentifier(text[start-1])) && (end == len(text) || !isIdentifier(text[end]))
}

func isIdentifier(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// occurrences are the whole occurrences of a symbol on one line.
type occurrences struct {
	line   string
	places []int // their first bytes, in order
	length int   // of the symbol in bytes
}

// A pattern is a way of using a symbol. The fits of a line are tried with what
// stands before an occurrence and after it.
type pattern struct {
	name string
	base int    // hundredths
	kind string // the kinds of symbol it is for; empty = all
	fits func(before, after string) bool
}

// patterns stand in the order in which the better one of equal base wins.
var patterns = []pattern{
	{"function_call", 95, "function", func(before, after string) bool {
		return strings.HasPrefix(skipSpace(after), "(") && !strings.HasSuffix(before, ".")
	}},
	{"method_call", 92, "function", func(before, after string) bool {
		return strings.HasPrefix(skipSpace(after), "(") && strings.HasSuffix(before, ".")
	}},
	{"type_annotation", 85, "type", func(before, _ string) bool {
		before = trimSpace(before)
		return strings.HasSuffix(before, ":") && !strings.HasSuffix(before, "::")
	}},
	{"return_type", 85, "type", func(before, _ string) bool { return strings.HasSuffix(trimSpace(before), "->") }},
	{"generic_type", 85, "type", func(before, _ string) bool { return strings.HasSuffix(before, "<") }},
	{"type_instantiation", 85, "type", func(_, after string) bool { return strings.HasPrefix(skipSpace(after), "{") }},
	{"assignment_target", 80, "variable constant", func(_, after string) bool {
		after = strings.TrimPrefix(skipSpace(after), ":")
		return strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "==") && !strings.HasPrefix(after, "=>")
	}},
	{"assignment_value", 80, "variable constant", func(before, _ string) bool {
		before, isAssigned := strings.CutSuffix(trimSpace(before), "=")
		return isAssigned && (before == "" || !strings.ContainsRune("=!<>", rune(before[len(before)-1])))
	}},
	{"property_access", 85, "variable constant", func(_, after string) bool { return strings.HasPrefix(after, ".") }},
	{"import", 90, "", func(before, _ string) bool { return strings.Contains(before, "import") }},
	{"use_statement", 90, "", func(before, _ string) bool { return hasUse(before) }},
	{"word_match", 60, "", func(_, _ string) bool { return true }},
}

// python_import is import on a line that has from as well.
const pythonImport = "python_import"

// classify returns the pattern of the highest base that fits an occurrence. The
// patterns of a kind of symbol are tried for it and for "any".
func (o occurrences) classify(kind string) (name string, base int) {
	for _, p := range patterns {
		if p.base <= base || p.kind != "" && kind != "any" && !strings.Contains(p.kind, kind) {
			continue
		}
		places := o.places
		if p.kind == "" { // it looks for what stands somewhere before: what fits any occurrence fits the last
			places = places[len(places)-1:]
		}
		for _, at := range places {
			if p.fits(o.line[:at], o.line[at+o.length:]) {
				name, base = p.name, p.base
				break
			}
		}
	}
	if name == "import" && strings.Contains(o.line, "from") {
		name = pythonImport
	}
	return name, base
}

func skipSpace(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }
func trimSpace(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// hasUse reports whether a use with white space behind it stands somewhere.
func hasUse(s string) bool {
	for {
		_, rest, ok := strings.Cut(s, "use")
		if !ok {
			return false
		}
		if rest != skipSpace(rest) {
			return true
		}
		s = rest
	}
}

// lineMarks says what lowers the confidence of a line.
type lineMarks struct{ comment, quoted bool }

// marks judges a line by its text alone.
func (o occurrences) marks() lineMarks {
	trimmed := strings.TrimSpace(o.line)
	return lineMarks{
		comment: strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "*") || strings.HasPrefix(trimmed, "/*"),
		quoted:  o.allQuoted(),
	}
}

// allQuoted reports whether every occurrence is inside a quoted literal: between
// two quotes of a kind, of which a backslash takes the meaning.
func (o occurrences) allQuoted() bool {
	i, odd := 0, 0
	for _, at := range o.places {
		inside := false
		for i < at && !inside {
			c := o.line[i]
			if c != '"' && c != '\'' {
				i++
				continue
			}
			end := closing(o.line, i)
			switch {
			case end < 0 && odd == maxOdd:
				return false
			case end < 0: // an apostrophe
				i++
				odd++
			case end < at:
				i = end + 1
			default:
				inside = end >= at+o.length
				if !inside {
					return false
				}
			}
		}
		if !inside {
			return false
		}
	}
	return true
}

// maxOdd is how many quotes of a line may be without a partner, each of which
// costs a look at the rest of the line.
const maxOdd = 100

// closing returns the place of the quote that closes the one at i, or -1.
func closing(line string, i int) int {
	for j := i + 1; j < len(line); j++ {
		switch line[j] {
		case '\\':
			j++
		case line[i]:
			return j
		}
	}
	return -1
}

// spanMarks judges a line by the spans that were stored for its file: a line is
// a comment when all its occurrences are in comments, and quoted when all are in
// comments or strings.
func spanMarks(spans []codesage.Span, places []int) lineMarks {
	m := lineMarks{comment: true, quoted: true}
	for _, place := range places {
		at := uint32(place)
		i := sort.Search(len(spans), func(i int) bool { return spans[i].End > at })
		inside := i < len(spans) && spans[i].Start <= at
		m.comment = m.comment && inside && spans[i].Kind == codesage.SpanComment
		m.quoted = m.quoted && inside
	}
	m.quoted = m.quoted && !m.comment
	return m
}

// What is added to the base of a pattern, in hundredths.
const (
	forTest     = 5
	forComment  = -30
	forQuoted   = -20
	forDocument = -25
)

// Confidence from which a reference is of a level, in hundredths.
const (
	highLevel   = 80
	mediumLevel = 50
)

// confidence adjusts the base of a line of a file; path is relative.
func confidence(base int, path string, m lineMarks) int {
	if strings.Contains(path, "test") || strings.Contains(path, "spec") {
		base += forTest
	}
	if m.comment {
		base += forComment
	}
	if m.quoted {
		base += forQuoted
	}
	for _, ext := range []string{".md", ".txt", ".rst"} {
		if strings.HasSuffix(path, ext) {
			base += forDocument
		}
	}
	return min(max(base, 0), 100)
}
