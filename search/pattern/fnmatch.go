package pattern

import (
	"regexp"
	"strings"
)

// FNMatch is Python's fnmatch.fnmatchcase: it tells whether whole names match a
// glob, case-sensitively. * stands for any text, / and line ends included, ?
// for one character, [seq] and [!seq] for one of a set or none of it. A bracket
// that is not closed is itself, and there is no escape character. No glob is
// invalid. It is safe for concurrent use.
type FNMatch struct {
	re *regexp.Regexp // nil matches nothing
}

// longestName is how long a name may be to match, in characters.
const longestName = 1 << 14

// NewFNMatch returns the matcher of a glob.
func NewFNMatch(glob string) *FNMatch {
	expr, shortest := fnExpr(glob)
	if shortest > longestName {
		return &FNMatch{}
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return &FNMatch{} // only its length can be at fault
	}
	return &FNMatch{re}
}

// Match reports whether the whole name matches.
func (m *FNMatch) Match(name string) bool { return m.re != nil && m.re.MatchString(name) }

// fnExpr translates a glob. shortest is the length of the shortest name that
// may match.
func fnExpr(glob string) (expr string, shortest int) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	text := []rune(glob)
	for i := 0; i < len(text); i++ {
		shortest++
		switch r := text[i]; r {
		case '*':
			shortest--
			for i+1 < len(text) && text[i+1] == '*' {
				i++
			}
			b.WriteString(`.*`)
		case '?':
			b.WriteByte('.')
		case '[':
			end := closing(text, i+1)
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			b.WriteString(fnClass(text[i+1 : end]))
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`\z`)
	return b.String(), shortest
}

// closing returns where the set that begins at i ends; -1 when it does not. A
// bracket that comes first is a member.
func closing(text []rune, i int) int {
	if i < len(text) && text[i] == '!' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	for ; i < len(text); i++ {
		if text[i] == ']' {
			return i
		}
	}
	return -1
}

// fnClass translates what stands between brackets. A range from a higher to a
// lower character is empty.
func fnClass(body []rune) string {
	negative := body[0] == '!'
	if negative {
		body = body[1:]
	}
	var pairs []rune
	for _, r := range fnRanges(body) {
		if r[0] <= r[1] {
			pairs = append(pairs, r[0], r[1])
		}
	}
	set := collect(pairs).without(surrogates)
	switch {
	case len(set) == 0 && negative:
		return `.`
	case len(set) == 0:
		return `[^\x00-\x{10FFFF}]`
	case negative:
		return `[^` + classBody(set) + `]`
	}
	return `[` + classBody(set) + `]`
}

// fnRanges reads the members of a set. As in Python, hyphens cut it into
// chunks, one that comes first or last is a member, and a chunk's last and the
// next one's first character are a range.
func fnRanges(body []rune) (ranges [][2]rune) {
	for i := 0; i < len(body); i++ {
		if i+2 < len(body) && body[i+1] == '-' {
			ranges = append(ranges, [2]rune{body[i], body[i+2]})
			i += 2
			continue
		}
		ranges = append(ranges, [2]rune{body[i], body[i]})
	}
	return ranges
}
