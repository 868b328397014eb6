package pattern

import (
	"fmt"
	"strings"
	"unicode"
)

// eof stands for the end of the pattern.
const eof = -1

// flags are the inline flags that change what follows.
type flags struct{ ignoreCase, verbose, ascii bool }

// parser reads a pattern in the syntax of Python's regex, version 0.
type parser struct {
	text    []rune
	pos     int
	verbose bool // white space and comments are skipped
	flags   flags
	groups  int            // groups opened so far
	names   map[string]int // numbers of named groups
	open    []int          // groups that are being read
	refs    []ref          // groups that are referred to, checked at the end
	depth   int

	asciiAtEnd bool // the flags at the end of the pattern, which some sets go by, say ASCII
}

// ref is a reference to a group that may follow later.
type ref struct {
	node *node
	name string
	pos  int
}

// syntaxError is a fault of a pattern.
type syntaxError struct {
	reason string
	pos    int
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at position %d", e.reason, e.pos) }

func (p *parser) errorAt(pos int, format string, args ...any) error {
	return &syntaxError{fmt.Sprintf(format, args...), pos}
}

func (p *parser) error(format string, args ...any) error { return p.errorAt(p.pos, format, args...) }

// skip passes over white space and comments in verbose mode.
func (p *parser) skip() {
	for p.verbose && p.pos < len(p.text) {
		switch r := p.text[p.pos]; {
		case isSpace(r):
			p.pos++
		case r == '#':
			for p.pos < len(p.text) && p.text[p.pos] != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

// get returns the next character that counts, or eof.
func (p *parser) get() rune {
	p.skip()
	return p.raw()
}

// raw returns the next character, even one that verbose mode skips, or eof.
func (p *parser) raw() rune {
	if p.pos == len(p.text) {
		return eof
	}
	p.pos++
	return p.text[p.pos-1]
}

// match passes over the text if it comes next.
func (p *parser) match(text string) bool {
	saved := p.pos
	for _, want := range text {
		if p.get() != want {
			p.pos = saved
			return false
		}
	}
	return true
}

func (p *parser) expect(text string) error {
	if !p.match(text) {
		return p.error("missing %s", text)
	}
	return nil
}

// while returns the characters that come next and fulfil f.
func (p *parser) while(f func(rune) bool) string {
	var b strings.Builder
	for {
		saved := p.pos
		r := p.get()
		if r == eof || !f(r) {
			if p.pos = saved; r == eof {
				p.skip()
			}
			return b.String()
		}
		b.WriteRune(r)
	}
}

// isSpace is Python's str.isspace.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isOctal(r rune) bool { return '0' <= r && r <= '7' }

func isHex(r rune) bool { return isDigit(r) || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' }

func isAlpha(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
