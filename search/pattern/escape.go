package pattern

import (
	"slices"
	"strconv"
	"strings"
)

// escape reads what follows a backslash outside a class.
func (p *parser) escape() (*node, error) {
	at := p.pos
	r := p.raw()
	switch r {
	case 'A', 'G': // a search starts at the start of the line
		return &node{op: opBegin}, nil
	case 'Z', 'z':
		return &node{op: opEnd}, nil
	case 'b', 'B':
		return &node{op: opBoundary, negative: r == 'B', ascii: p.flags.ascii}, nil
	case 'm', 'M':
		return p.wordEdge(r == 'M'), nil
	case 'K': // moves the start of a match, which nobody asks for
		return empty(), nil
	case 'R': // \r\n as one is in no line
		return &node{op: opSet, set: collect([]rune{'\v', '\r', 0x85, 0x85, 0x2028, 0x2029})}, nil
	case 'X':
		return nil, p.errorAt(at, `grapheme clusters (\X) are not supported`)
	case 'L':
		return nil, p.errorAt(at, "undefined named list")
	case 'g':
		if saved := p.pos; p.match("<") {
			refs := len(p.refs)
			if n, err := p.backref(">", p.pos); err == nil {
				return n, nil
			}
			p.pos, p.refs = saved, p.refs[:refs]
		}
		return p.literal('g'), nil
	}
	if isDigit(r) && r != '0' {
		return p.number(r)
	}
	item, err := p.charEscape(r, at, false)
	if err != nil {
		return nil, err
	}
	return p.itemNode(item), nil
}

// wordEdge is the start of a word, or its end.
func (p *parser) wordEdge(end bool) *node {
	word := &node{op: opSet, set: wordRunes(), tables: wordTables()}
	if p.asciiAtEnd {
		word = &node{op: opSet, set: wordRunes().and(ascii)}
	}
	return joined(opConcat, []*node{
		{op: opBoundary, ascii: p.asciiAtEnd}, {op: opLook, behind: end, subs: []*node{word}},
	})
}

// number reads a reference by number, or three octal digits.
func (p *parser) number(first rune) (*node, error) {
	digits := string(first)
	saved := p.pos
	if r := p.get(); isDigit(r) {
		digits += string(r)
		saved = p.pos
		if next := p.get(); isOctal(first) && isOctal(r) && isOctal(next) {
			n, _ := strconv.ParseInt(digits+string(next), 8, 32)
			return p.literal(rune(n & 0x1FF)), nil
		}
	}
	p.pos = saved
	return p.refTo(digits, p.pos)
}

// item is one item of a class, or an escape that stands for a set.
type item struct {
	set      runes
	caseless runes  // the set when case is ignored; nil: the folded set
	isChar   bool   // one character, which may begin or end a range
	tables   string // as of node, without inversion
	inverted bool
}

// itemNode is an item outside a class.
func (p *parser) itemNode(i item) *node {
	n := &node{op: opSet, set: i.set, tables: i.tables, inverted: i.inverted}
	switch {
	case !p.flags.ignoreCase:
	case i.caseless != nil:
		n.set = i.caseless
	default:
		n.set = i.set.fold(p.flags.ascii)
	}
	return n
}

func char(r rune) item { return item{set: single(r), isChar: true} }

var plainEscapes = map[rune]rune{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// charEscape reads an escape that stands for one character or a set of them;
// r is what followed the backslash.
func (p *parser) charEscape(r rune, at int, inClass bool) (item, error) {
	switch r {
	case eof:
		return item{}, p.error("bad escape (end of pattern)")
	case 'x':
		return p.hexEscape(r, 2)
	case 'u':
		return p.hexEscape(r, 4)
	case 'U':
		return p.hexEscape(r, 8)
	case 'N':
		if p.pos < len(p.text) && p.text[p.pos] == '{' && slices.Contains(p.text[p.pos:], '}') {
			return item{}, p.errorAt(at, `named characters (\N{…}) are not supported`)
		}
		return char('N'), nil
	case 'p', 'P':
		return p.propertyEscape(r)
	case 'd', 'D', 's', 'S', 'w', 'W', 'h':
		return p.setEscape(r), nil
	}
	switch {
	case isDigit(r):
		return p.octalEscape(r)
	case plainEscapes[r] != 0 && (inClass || r != 'b'):
		return char(plainEscapes[r]), nil
	case isAlpha(r):
		return item{}, p.error(`bad escape \%c`, r)
	}
	return char(r), nil
}

// setEscape returns \d, \s, \w, \h or, in capitals, what they are not.
func (p *parser) setEscape(r rune) item {
	var i item
	switch r {
	case 'd', 'D':
		i.set, _ = category("ND")
		i.tables = `\p{Nd}`
	case 's', 'S':
		i.set = properties["SPACE"]()
	case 'h':
		return item{set: blank(), caseless: blank()}
	default:
		i.set, i.tables = wordRunes(), wordTables()
	}
	if p.flags.ascii {
		i.set, i.tables = i.set.and(ascii), ""
	}
	if strings.ContainsRune("DSW", r) {
		i.set, i.inverted = i.set.not(), true
	}
	i.caseless = i.set
	return i
}

func (p *parser) hexEscape(kind rune, length int) (item, error) {
	saved := p.pos
	digits := ""
	for range length {
		r := p.get()
		if !isHex(r) {
			return item{}, p.errorAt(saved, `incomplete escape \%c%s`, kind, digits)
		}
		digits += string(r)
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n > maxRune {
		return item{}, p.errorAt(saved, `bad hex escape \%c%s`, kind, digits)
	}
	return char(rune(n)), nil
}

// octalEscape reads up to three octal digits, of which r is the first.
func (p *parser) octalEscape(r rune) (item, error) {
	if !isOctal(r) {
		return item{}, p.error(`bad escape \%c`, r)
	}
	n := r - '0'
	for range 2 {
		saved := p.pos
		next := p.get()
		if !isOctal(next) {
			p.pos = saved
			break
		}
		n = n*8 + next - '0'
	}
	return char(n), nil
}

// propertyEscape reads what follows \p or \P.
func (p *parser) propertyEscape(r rune) (item, error) {
	saved := p.pos
	positive := r == 'p'
	switch next := p.get(); {
	case next == '{':
		if p.match("^") {
			positive = !positive
		}
		kind, name := p.propertyName()
		if p.match("}") {
			return p.property(kind, name, positive, false)
		}
	case strings.ContainsRune("CLMNPSZ", next):
		return p.property("", string(next), positive, false)
	}
	p.pos = saved
	return char(r), nil
}

// propertyName reads "name", "kind=name" or "kind:name".
func (p *parser) propertyName() (kind, name string) {
	inName := func(r rune) bool { return isAlpha(r) || isDigit(r) || strings.ContainsRune(" &_-.", r) }
	name = p.while(inName)
	if saved := p.pos; p.match("=") || p.match(":") {
		if value := strings.TrimSpace(p.while(func(r rune) bool { return inName(r) || r == '/' })); value != "" {
			return name, value
		}
		p.pos = saved
	}
	return "", name
}

func (p *parser) property(kind, name string, positive, posix bool) (item, error) {
	set, caseless, ok := property(kind, name, posix)
	if !ok {
		return item{}, p.error("unknown property")
	}
	if posix && p.asciiAtEnd || !posix && p.flags.ascii {
		set, caseless = set.and(ascii), caseless.and(ascii)
	}
	if !positive {
		set, caseless = set.not(), caseless.not()
	}
	return item{set: set, caseless: caseless}, nil
}
