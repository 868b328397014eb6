package pattern

import (
	"io"
	"regexp"
	"regexp/syntax"
	"time"
	"unicode/utf8"
)

// program is an expression for Go's engine, which is linear in the text but
// can't be interrupted, so that large programs get the text in a way that can
// be cut off.
type program struct {
	re    *regexp.Regexp
	large bool
}

const (
	// largeProgram is how many instructions a program may have to be run over a
	// window of text without a look at the clock.
	largeProgram = 100
	window       = 1 << 16
	clockPeriod  = 256 // characters between two looks at the clock
)

func newProgram(expr string) (*program, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	return &program{re: re, large: len(compiled.Inst) > largeProgram}, nil
}

// match reports whether the text has a match.
func (p *program) match(text string, deadline time.Time) (bool, error) {
	if !p.large && len(text) <= window || deadline.IsZero() {
		return p.re.MatchString(text), nil
	}
	r := &cutOff{text: text, deadline: deadline}
	found := p.re.MatchReader(r)
	if r.passed {
		return false, ErrTimeout
	}
	return found, nil
}

// cutOff reads a text, and ends early when the deadline has passed.
type cutOff struct {
	text     string
	deadline time.Time
	read     int
	passed   bool
}

// ReadRune returns the next character.
func (c *cutOff) ReadRune() (r rune, size int, err error) {
	if c.read++; c.read%clockPeriod == 0 && time.Now().After(c.deadline) {
		c.passed = true
	}
	if c.passed || c.text == "" {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRuneInString(c.text)
	c.text = c.text[size:]
	return r, size, nil
}
