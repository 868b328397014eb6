package pattern

import (
	"slices"
	"strings"
	"unicode"
)

// paren reads what follows an opening parenthesis. Inline flags and comments
// are no item: nil.
func (p *parser) paren() (*node, error) {
	saved := p.pos
	switch p.raw() {
	case '?':
		return p.extension()
	case '*':
		at := p.pos
		verb := p.while(func(r rune) bool { return r != ')' && r != '>' })
		if verb == "" || !isAlpha([]rune(verb)[0]) {
			break
		}
		return p.verb(verb, at)
	}
	p.pos = saved
	return p.capture("")
}

func (p *parser) verb(verb string, at int) (*node, error) {
	switch verb {
	case "FAIL", "F":
		return &node{op: opFail}, p.expect(")")
	case "PRUNE", "SKIP":
		return nil, p.errorAt(at, "the verb (*%s) is not supported", verb)
	}
	return nil, p.errorAt(at, "unknown verb")
}

// extension reads what follows "(?".
func (p *parser) extension() (*node, error) {
	saved := p.pos
	switch r := p.raw(); {
	case r == '<':
		at := p.pos
		switch p.get() {
		case '=':
			return p.look(true, false)
		case '!':
			return p.look(true, true)
		}
		p.pos = at
		return p.named()
	case r == '=':
		return p.look(false, false)
	case r == '!':
		return p.look(false, true)
	case r == 'P':
		return p.pythonExtension()
	case r == '#':
		return nil, p.comment()
	case r == '(':
		return p.conditional()
	case r == '>':
		sub, err := p.enclosed()
		return &node{op: opAtomic, subs: []*node{sub}}, err
	case r == '|':
		return p.branchReset()
	case r == 'R', r == '&', isDigit(r):
		return nil, p.errorAt(saved, "recursive patterns are not supported")
	case (r == '+' || r == '-') && p.pos < len(p.text) && isDigit(p.text[p.pos]):
		return nil, p.errorAt(saved, "recursive patterns are not supported")
	}
	p.pos = saved
	return p.inlineFlags()
}

// pythonExtension reads what follows "(?P".
func (p *parser) pythonExtension() (*node, error) {
	saved := p.pos
	switch p.get() {
	case '<':
		return p.named()
	case '=':
		return p.backref(")", saved)
	case '>', '&':
		return nil, p.errorAt(saved, "recursive patterns are not supported")
	}
	return nil, p.errorAt(saved, "unknown extension")
}

// enclosed reads a pattern up to its closing parenthesis. Flags that are set
// inside end there.
func (p *parser) enclosed() (*node, error) {
	saved := p.flags
	sub, err := p.alternation()
	if err == nil {
		err = p.expect(")")
	}
	p.flags, p.verbose = saved, saved.verbose
	return sub, err
}

func (p *parser) named() (*node, error) {
	name, err := p.name(false)
	if err == nil {
		err = p.expect(">")
	}
	if err != nil {
		return nil, err
	}
	return p.capture(name)
}

// capture reads a capturing group. Groups of one name are one group.
func (p *parser) capture(name string) (*node, error) {
	number, known := p.names[name]
	if !known {
		p.groups++
		number = p.groups
		if name != "" {
			p.names[name] = number
		}
	}
	p.open = append(p.open, number)
	sub, err := p.enclosed()
	p.open = p.open[:len(p.open)-1]
	return &node{op: opGroup, group: number, subs: []*node{sub}}, err
}

// name reads the name of a group, or its number where that is allowed.
func (p *parser) name(numeric bool) (string, error) {
	name := p.while(func(r rune) bool { return r != ')' && r != '>' })
	if name == "" {
		return "", p.error("missing group name")
	}
	if strings.TrimFunc(name, isDigit) == "" {
		if !numeric || strings.Trim(name, "0") == "" {
			return "", p.error("bad character in group name")
		}
		return name, nil
	}
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !wordRunes().has(r)) {
			return "", p.error("bad character in group name")
		}
	}
	return name, nil
}

// backref reads a reference by name or number that ends with end; at is where a
// fault is said to be.
func (p *parser) backref(end string, at int) (*node, error) {
	name, err := p.name(true)
	if err == nil {
		err = p.expect(end)
	}
	if err != nil {
		return nil, err
	}
	return p.refTo(name, at)
}

func (p *parser) refTo(name string, at int) (*node, error) {
	n := &node{op: opBackref, fold: p.flags.ignoreCase}
	p.refs = append(p.refs, ref{n, name, at})
	number, err := p.resolve(ref{n, name, at})
	if err == nil && slices.Contains(p.open, number) {
		return nil, p.error("cannot refer to an open group")
	}
	return n, nil
}

func (p *parser) look(behind, negative bool) (*node, error) {
	sub, err := p.enclosed()
	return &node{op: opLook, subs: []*node{sub}, behind: behind, negative: negative}, err
}

// comment passes over a comment.
func (p *parser) comment() error {
	for {
		switch p.raw() {
		case ')':
			return nil
		case eof:
			return p.error("missing )")
		case '\\':
			p.raw()
		}
	}
}

// conditional reads what follows "(?(".
func (p *parser) conditional() (*node, error) {
	saved, outer := p.pos, p.flags
	var test *node
	switch {
	case p.match("?=") || p.match("?!") || p.match("?<=") || p.match("?<!"):
		kind := p.text[p.pos-1]
		look, err := p.look(p.text[p.pos-2] == '<', kind == '!')
		if err != nil {
			return nil, err
		}
		test = look
	case p.match("?"):
		return nil, p.errorAt(saved, "expected lookaround conditional")
	}
	cond := &node{op: opCond}
	if test == nil {
		name, err := p.name(true)
		if err == nil {
			err = p.expect(")")
		}
		if err != nil {
			return nil, err
		}
		if name == "DEFINE" {
			return nil, p.errorAt(saved, "recursive patterns are not supported")
		}
		p.refs = append(p.refs, ref{cond, name, saved})
	}
	yes, no, err := p.branches()
	p.flags, p.verbose = outer, outer.verbose
	if err != nil {
		return nil, err
	}
	if test == nil {
		cond.subs = []*node{yes, no}
		return cond, nil
	}
	other := *test
	other.negative = !test.negative
	return joined(opAlternate, []*node{
		joined(opConcat, []*node{test, yes}), joined(opConcat, []*node{&other, no}),
	}), nil
}

// branches reads the one or two branches of a conditional.
func (p *parser) branches() (yes, no *node, err error) {
	if p.depth++; p.depth > maxDepth {
		return nil, nil, p.error("too many nested groups")
	}
	defer func() { p.depth-- }()
	if yes, err = p.sequence(); err != nil {
		return nil, nil, err
	}
	no = empty()
	if p.match("|") {
		if no, err = p.sequence(); err != nil {
			return nil, nil, err
		}
	}
	return yes, no, p.expect(")")
}

// branchReset reads "(?|": the groups of every branch have the same numbers.
func (p *parser) branchReset() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.error("too many nested groups")
	}
	defer func() { p.depth-- }()
	before, most := p.groups, p.groups
	var parts []*node
	for {
		p.groups = before
		part, err := p.sequence()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		most = max(most, p.groups)
		if !p.match("|") {
			break
		}
	}
	p.groups = most
	return grouped(joined(opAlternate, parts)), p.expect(")")
}

// inlineFlags reads "(?i)", which holds to the end of the group, or "(?i:…)".
func (p *parser) inlineFlags() (*node, error) {
	on, err := p.flagSet()
	if err != nil {
		return nil, err
	}
	off := ""
	if p.match("-") {
		if off, err = p.flagSet(); err != nil {
			return nil, err
		}
		if off == "" {
			return nil, p.error("bad inline flags: no flags after '-'")
		}
	}
	switch {
	case strings.ContainsAny(off, "bepr01"):
		return nil, p.error("bad inline flags: cannot turn off global flag")
	case strings.ContainsAny(on, off):
		return nil, p.error("bad inline flags: flag turned on and off")
	}
	outer := p.flags
	p.setFlags(on, off)
	if p.match(")") {
		return nil, nil
	}
	if !p.match(":") {
		return nil, p.error("unknown extension")
	}
	sub, err := p.alternation()
	if err == nil {
		err = p.expect(")")
	}
	p.flags, p.verbose = outer, outer.verbose
	return grouped(sub), err
}

func (p *parser) setFlags(on, off string) {
	set := func(flag *bool, letter string) {
		*flag = (*flag || strings.Contains(on, letter)) && !strings.Contains(off, letter)
	}
	set(&p.flags.ignoreCase, "i")
	set(&p.flags.verbose, "x")
	set(&p.flags.ascii, "a")
	if strings.Contains(on, "u") {
		p.flags.ascii = false
	}
	p.verbose = p.flags.verbose
}

// flagSet reads flag letters; the version is 0 or 1.
func (p *parser) flagSet() (string, error) {
	var set strings.Builder
	for {
		saved := p.pos
		switch r := p.get(); r {
		case 'a', 'b', 'e', 'i', 'm', 'p', 's', 'u', 'x':
			// b, e and p choose among matches, m and s are about line ends: a line
			// matches or it does not, and holds no line end.
			set.WriteRune(r)
		case 'V':
			if p.match("0") {
				set.WriteByte('0')
				continue
			}
			return "", p.errorAt(saved, "version 1 behaviour (set operations, full case-folding) is not supported")
		case 'f', 'L', 'r', 'w':
			return "", p.errorAt(saved, "the flag %c is not supported", r)
		default:
			p.pos = saved
			return set.String(), nil
		}
	}
}
