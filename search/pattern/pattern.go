// Package pattern finds the lines of a text that match a literal string or a
// regular expression in the syntax and with the meaning of Python's regex
// module: \w, \d, \s and \b know Unicode, and look-around, back-references,
// atomic groups and possessive quantifiers work.
//
// A pattern is parsed here and written anew for Go's linear engine, whenever
// that can express it exactly, else for a backtracking engine with a time limit.
// Fuzzy matching, set operations, recursion, named lists, named characters and
// grapheme clusters are refused.
//
// It also holds FNMatch, the port of Python's fnmatch.
package pattern

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// ErrTimeout is returned when the deadline passes before an answer is known.
var ErrTimeout = errors.New("pattern: deadline passed")

// Matcher tells which lines match. It is not safe for concurrent use.
type Matcher struct {
	literal string
	isRegex bool

	loose *program // matches a superset, anywhere in a text; nil when it can't be had
	index string

	tree       *node
	ascii      engine // for lines of ASCII only
	wide       engine // for all others; made when one comes
	wideFailed error
}

// engine answers for one line.
type engine interface {
	match(line string, deadline time.Time) (bool, error)
}

// Literal returns the matcher of lines that contain the text, case-sensitively.
func Literal(text string) *Matcher {
	return &Matcher{literal: text, index: regexp.QuoteMeta(text)}
}

// Regexp returns the matcher of lines in which the expression is found. The
// message of an error says what is wrong with it.
func Regexp(expr string) (*Matcher, error) {
	tree, err := parse(expr)
	if err != nil {
		return nil, err
	}
	m := &Matcher{isRegex: true, tree: tree}
	if m.ascii, err = build(tree, ascii); err != nil {
		return nil, err
	}
	m.loose, err = newProgram(dialect{loose: true}.write(tree))
	if err != nil {
		m.loose = nil // nested too deep for that engine; every line is looked at
	}
	m.index = dialect{loose: true, coarse: true}.write(tree)
	if _, err := syntax.Parse(m.index, syntax.Perl); err != nil {
		m.index = ""
	}
	return m, nil
}

// IndexExpr returns a Go regular expression that is found in every text which
// has a matching line, for an index that knows what such texts have in common.
// Empty means that nothing is known.
func (m *Matcher) IndexExpr() string { return m.index }

// build makes the engine for lines whose characters are all within a set; nil
// means any.
func build(tree *node, within runes) (engine, error) {
	unicodeBoundary := tree.any(func(n *node) bool { return n.op == opBoundary && !n.ascii })
	if !tree.backtracks() && (within != nil || !unicodeBoundary) {
		if p, err := newProgram(dialect{within: within}.write(tree)); err == nil {
			return p, nil
		}
	}
	re, err := regexp2.Compile(dialect{backtracking: true, within: within}.write(tree), regexp2.None)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return &backtracker{re}, nil
}

// MatchLine reports whether a line, given without its end, matches. A zero
// deadline is none.
func (m *Matcher) MatchLine(line string, deadline time.Time) (bool, error) {
	if !m.isRegex {
		return strings.Contains(line, m.literal), nil
	}
	e := m.ascii
	if !isASCII(line) {
		if m.wide == nil && m.wideFailed == nil {
			m.wide, m.wideFailed = build(m.tree, nil)
		}
		if m.wideFailed != nil {
			return false, m.wideFailed
		}
		e = m.wide
	}
	if _, slow := e.(*backtracker); slow && m.loose != nil {
		// Most lines lack what the pattern needs; the linear engine says so safely.
		if possible, err := m.loose.match(line, deadline); err != nil || !possible {
			return false, err
		}
	}
	return e.match(line, deadline)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// backtracker is the engine with look-around and back-references.
type backtracker struct{ re *regexp2.Regexp }

func (b *backtracker) match(line string, deadline time.Time) (bool, error) {
	b.re.MatchTimeout = regexp2.DefaultMatchTimeout
	if !deadline.IsZero() {
		left := time.Until(deadline)
		if left <= 0 {
			return false, ErrTimeout
		}
		b.re.MatchTimeout = left
	}
	ok, err := b.re.MatchString(line)
	if err != nil {
		return false, ErrTimeout // its one error
	}
	return ok, nil
}
