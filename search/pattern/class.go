package pattern

import "regexp"

// class reads what follows an opening bracket.
func (p *parser) class() (*node, error) {
	saved := p.verbose
	p.verbose = false
	defer func() { p.verbose = saved }()
	start := p.pos
	negative := p.match("^")
	var items []item
	for len(items) == 0 || !p.match("]") {
		found, err := p.member()
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	if p.hasSetOperation(start) {
		return nil, p.errorAt(start-1, "set operations are not supported")
	}
	return p.classNode(items, negative), nil
}

// classNode joins the items of a class.
func (p *parser) classNode(items []item, negative bool) *node {
	n := &node{op: opSet, inverted: negative}
	var pairs []rune
	brief := true
	for _, i := range items {
		set := i.set
		if p.flags.ignoreCase {
			if set = i.caseless; set == nil {
				set = i.set.fold(p.flags.ascii)
			}
		}
		pairs = append(pairs, set...)
		switch {
		case i.tables != "" && !i.inverted:
			n.tables += i.tables
		case len(set) <= manyRanges:
			n.tables += classBody(set)
		default:
			brief = false
		}
	}
	n.set = collect(pairs)
	if negative {
		n.set = n.set.not()
	}
	if !brief {
		n.tables = ""
	}
	return n
}

// setOperation is an operator of version 1 with a set behind it. Version 0, of
// which patterns are, takes the operators for characters, which nobody means.
var (
	setOperation = regexp.MustCompile(`(?:--|&&|~~|\|\|)(?:\[|\\[wWdDsSpPh])`)
	afterSet     = regexp.MustCompile(`^(?:--|&&|~~|\|\|)\[`)
)

// hasSetOperation reports whether the class that begins at start and has just
// been read was meant as an operation on sets.
func (p *parser) hasSetOperation(start int) bool {
	body := string(p.text[start:p.pos])
	return setOperation.MatchString(body) || body[0] == '[' && afterSet.MatchString(string(p.text[p.pos:]))
}

// member reads one item or range. A hyphen that makes no range is an item of
// its own.
func (p *parser) member() ([]item, error) {
	first, err := p.classItem()
	if err != nil || !first.isChar || !p.match("-") {
		return []item{first}, err
	}
	if p.match("]") {
		p.pos--
		return []item{first, char('-')}, nil
	}
	last, err := p.classItem()
	if err != nil {
		return nil, err
	}
	if !last.isChar {
		return []item{first, char('-'), last}, nil
	}
	if first.set[0] > last.set[0] {
		return nil, p.error("bad character range")
	}
	return []item{{set: runes{first.set[0], last.set[0]}}}, nil
}

func (p *parser) classItem() (item, error) {
	at := p.pos
	if p.match(`\`) {
		return p.charEscape(p.raw(), at+1, true)
	}
	if p.match("[:") {
		positive := !p.match("^")
		kind, name := p.propertyName()
		if p.match(":]") {
			return p.property(kind, name, positive, true)
		}
		p.pos = at
	}
	r := p.get()
	if r == eof {
		return item{}, p.error("unterminated character set")
	}
	return char(r), nil
}
