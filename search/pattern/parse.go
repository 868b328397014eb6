package pattern

import (
	"regexp"
	"strconv"
	"strings"
)

// maxDepth is how deep groups may be nested.
const maxDepth = 200

// parse reads a whole pattern. POSIX classes and the edges of words go by the
// ASCII flag as it is at the end of the pattern, so that it may be read twice.
func parse(text string) (*node, error) {
	p := &parser{text: []rune(text), names: map[string]int{}}
	root, err := p.whole()
	if err == nil && p.flags.ascii {
		p = &parser{text: p.text, names: map[string]int{}, asciiAtEnd: true}
		root, err = p.whole()
	}
	return root, err
}

func (p *parser) whole() (*node, error) {
	root, err := p.alternation()
	if err != nil {
		return nil, err
	}
	p.skip()
	if p.pos < len(p.text) {
		return nil, p.error("unbalanced parenthesis")
	}
	for _, r := range p.refs {
		if r.node.group, err = p.resolve(r); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// resolve returns the number of the group that a reference names.
func (p *parser) resolve(r ref) (int, error) {
	if n, known := p.names[r.name]; known {
		return n, nil
	}
	n, err := strconv.Atoi(r.name)
	switch {
	case err != nil && !isDigit([]rune(r.name)[0]):
		return 0, p.errorAt(r.pos, "unknown group")
	case err != nil || n > p.groups:
		return 0, p.errorAt(r.pos, "invalid group reference")
	}
	return n, nil
}

func (p *parser) alternation() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.error("too many nested groups")
	}
	defer func() { p.depth-- }()
	var branches []*node
	for {
		branch, err := p.sequence()
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch)
		if !p.match("|") {
			return joined(opAlternate, branches), nil
		}
	}
}

// sequence reads up to the end of a branch. A nil item is where a quantifier
// has nothing to repeat.
func (p *parser) sequence() (*node, error) {
	items := []*node{nil}
	for {
		saved := p.pos
		r := p.get()
		if r == eof || r == ')' || r == '|' {
			p.pos = saved
			break
		}
		item, err := p.atom(r)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune("?*+{", r) {
			items, err = p.quantified(items, r, saved)
			if err != nil {
				return nil, err
			}
			continue
		}
		if item != nil {
			items = append(items, item)
		}
	}
	var parts []*node
	for _, item := range items {
		if item != nil {
			parts = append(parts, item)
		}
	}
	return joined(opConcat, parts), nil
}

// atom reads what begins with r; nil when that is no item.
func (p *parser) atom(r rune) (*node, error) {
	switch r {
	case '\\':
		return p.escape()
	case '(':
		return p.paren()
	case '.':
		return &node{op: opSet, set: runes{0, maxRune}}, nil
	case '[':
		return p.class()
	case '^':
		return &node{op: opBegin}, nil
	case '$':
		return &node{op: opEnd}, nil
	case '?', '*', '+', '{':
		return nil, nil
	}
	return p.literal(r), nil
}

func (p *parser) literal(r rune) *node {
	set := single(r)
	if p.flags.ignoreCase {
		set = set.fold(p.flags.ascii)
	}
	return &node{op: opSet, set: set}
}

// quantified applies what begins with r to the last item, or takes r for a
// literal when it is no quantifier.
func (p *parser) quantified(items []*node, r rune, at int) ([]*node, error) {
	lo, hi, ok, err := p.counts(r)
	if err != nil {
		return nil, err
	}
	last := items[len(items)-1]
	if !ok {
		fuzzy, err := p.fuzzy()
		switch {
		case err != nil:
			return nil, err
		case fuzzy && last == nil:
			return nil, p.errorAt(at, "nothing for fuzzy constraint")
		case fuzzy:
			return nil, p.errorAt(at, "fuzzy matching is not supported")
		}
		return append(items, p.literal(r)), nil
	}
	if last == nil || last.op == opRepeat {
		if len(items) > 1 {
			return nil, p.errorAt(at, "multiple repeat")
		}
		return nil, p.errorAt(at, "nothing to repeat")
	}
	repeat := &node{op: opRepeat, subs: []*node{last}, min: lo, max: hi}
	saved := p.pos
	switch p.get() {
	case '?':
		repeat.lazy = true
	case '+':
		repeat.possessive = true
	default:
		p.pos = saved
	}
	if lo == 1 && hi == 1 {
		repeat = last
	}
	items[len(items)-1] = repeat
	return append(items, nil), nil
}

// counts reads a quantifier that begins with r.
func (p *parser) counts(r rune) (lo, hi int, ok bool, err error) {
	switch r {
	case '?':
		return 0, 1, true, nil
	case '*':
		return 0, unlimited, true, nil
	case '+':
		return 1, unlimited, true, nil
	}
	saved := p.pos
	// Blanks around the numbers are taken for nothing, as regex does.
	number := func() string { return strings.TrimSpace(p.while(func(r rune) bool { return isDigit(r) || r == ' ' })) }
	first := number()
	second, comma := first, p.match(",")
	if comma {
		second = number()
	}
	if !comma && first == "" || strings.Contains(first+second, " ") || !p.match("}") {
		p.pos = saved
		return 0, 0, false, nil
	}
	lo, hi = 0, unlimited
	for i, text := range []string{first, second} {
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 1<<32-1 {
			return 0, 0, false, p.errorAt(saved, "repeat count too big")
		}
		if i == 0 {
			lo = int(n)
		} else {
			hi = int(n)
		}
	}
	if hi != unlimited && lo > hi {
		return 0, 0, false, p.errorAt(saved, "min repeat greater than max repeat")
	}
	return lo, hi, true, nil
}

// fuzzyItems are the constraints of fuzzy matching: {e<=1}, {i,d}, {1<e<3},
// {2i+2d+1s<=4}.
var fuzzyItems = regexp.MustCompile(`^` + fuzzyItem + `(?:,` + fuzzyItem + `)*`)

const fuzzyItem = `(?:\d+<=?[deis]<=?\d+|(?:\d*[dis])(?:\+\d*[dis])*<=?\d+|[deis](?:<=?\d+)?)`

// fuzzy reports whether a constraint of fuzzy matching comes next, after its
// brace.
func (p *parser) fuzzy() (bool, error) {
	rest := string(p.text[p.pos:])
	found := fuzzyItems.FindString(rest)
	switch {
	case found == "":
		return false, nil
	case strings.HasPrefix(rest[len(found):], "}"), strings.HasPrefix(rest[len(found):], ":"):
		return true, nil
	}
	return false, p.errorAt(p.pos+len(found), "expected }")
}
