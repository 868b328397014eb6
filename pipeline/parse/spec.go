package parse

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"codesage"

	sitter "github.com/smacker/go-tree-sitter"
)

// spec is all that is known about one language. Lists of node types are
// separated by white space.
type spec struct {
	label    string // as descriptions print it
	grammar  func() *sitter.Language
	rules    string // one rule a line; see rule
	wraps    string // a definition that is the only child of one of these has its extent
	attrs    string // decorators, attributes, annotations: they belong to the definition behind them
	bodies   string // a signature ends where one of these begins; the field "body" does so anyway
	comments string
	strings  string
	code     string // code inside strings
	hooks    map[string]hook
	blank    *regexp.Regexp // what its first group matches is hidden from the grammar
}

// language is a compiled spec.
type language struct {
	spec
	lang   *sitter.Language
	keep   []uint8
	named  []bool   // by symbol
	names  []string // by symbol
	rules  [][]rule // by symbol, in the order of the spec
	fields map[string]uint16
	types  map[string][]uint16 // symbols by node type, named and anonymous
	body   uint16
	wraps  set
	attrs  set
	bodies set
	paint  []paint // by symbol
}

// rule says what one type of node defines. It is written
//
//	type[|type] kind path [option ...]
//
// where kind is the word that descriptions print, or "scope" for a node that
// only qualifies the names inside it, and path leads to the name ("-" when a
// hook finds it). Options:
//
//	leaf            nothing inside is a definition
//	top             only outside of other definitions
//	split           the name is qualified: A::b, a.b, a:b
//	owner=path      what qualifies the name
//	body=path       where the signature ends
//	if=path[:types] the path leads somewhere, to a node of one of the types
//	unless=...      the opposite
//	is=path:words   the path leads to a node whose text is one of the words
//	isnot=...       the opposite
//	via=hook        the hook finds the names
//
// The first rule of a type whose conditions hold counts.
type rule struct {
	kind       string
	entity     codesage.EntityType
	leaf, top  bool
	split      bool
	name       route
	owner      route
	body       route
	conditions []condition
	via        hook
}

type condition struct {
	path   route
	types  set      // nil: any
	words  []string // nil: any
	negate bool
}

// set is a set of symbols.
type set map[uint16]bool

// paint is what a node type means for the spans.
type paint uint8

const (
	paintNone paint = iota
	paintComment
	paintString
	paintCode
)

// once compiles a spec when it is first needed: a child sees few languages and
// must start fast.
type once struct {
	sync.Once
	spec     *spec
	compiled *language
	err      error
}

func (o *once) get() (*language, error) {
	o.Do(func() { o.compiled, o.err = compile(o.spec) })
	return o.compiled, o.err
}

// compile resolves every name in a spec. It fails when the grammar does not
// know one of them.
func compile(s *spec) (*language, error) {
	l := &language{spec: *s, lang: s.grammar(), fields: map[string]uint16{}, types: map[string][]uint16{}}
	l.readGrammar()
	c := &compiler{l: l}
	l.body = l.fields["body"] // 0, which no node has, where the grammar has none
	l.wraps, l.attrs, l.bodies = c.set(s.wraps), c.set(s.attrs), c.set(s.bodies)
	for sym := range c.set(s.comments) {
		l.paint[sym] = paintComment
	}
	for sym := range c.set(s.strings) {
		l.paint[sym] = paintString
	}
	for sym := range c.set(s.code) {
		l.paint[sym] = paintCode
	}
	for line := range strings.Lines(s.rules) {
		if line = strings.TrimSpace(line); line != "" {
			c.rule(line)
		}
	}
	if len(c.faults) > 0 {
		return nil, fmt.Errorf("%s: %s", s.label, strings.Join(c.faults, "; "))
	}
	return l, nil
}

// readGrammar lists the grammar's node types and fields.
func (l *language) readGrammar() {
	n := l.lang.SymbolCount()
	l.names = make([]string, n)
	l.keep, l.named, l.paint, l.rules = make([]uint8, n), make([]bool, n), make([]paint, n), make([][]rule, n)
	for i := range n {
		kind, name := l.lang.SymbolType(sitter.Symbol(i)), l.lang.SymbolName(sitter.Symbol(i))
		l.names[i] = name
		if kind == sitter.SymbolTypeAuxiliary {
			continue
		}
		l.types[name] = append(l.types[name], uint16(i))
		l.named[i] = kind == sitter.SymbolTypeRegular
		if l.named[i] || isWord(name) {
			l.keep[i] = 1
		}
	}
	for i := 1; ; i++ {
		name := l.lang.FieldName(i)
		if name == "" {
			return
		}
		l.fields[name] = uint16(i)
	}
}

// isWord tells keywords from punctuation.
func isWord(s string) bool {
	return s != "" && (s[0] == '_' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// hidden returns the text with spaces in place of what blank matches.
func (s *spec) hidden(text []byte) []byte {
	if s.blank == nil {
		return text
	}
	places := s.blank.FindAllSubmatchIndex(text, -1)
	if len(places) == 0 {
		return text
	}
	out := bytes.Clone(text)
	for _, p := range places {
		for i := p[2]; i < p[3]; i++ {
			out[i] = ' '
		}
	}
	return out
}

// compiler collects the faults of a spec.
type compiler struct {
	l      *language
	faults []string
}

func (c *compiler) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// symbols returns those of a node type, or of a keyword when no type has the name.
func (c *compiler) symbols(name string) []uint16 {
	all, ok := c.l.types[name]
	if !ok {
		c.fault("no node type %q", name)
	}
	var named []uint16
	for _, sym := range all {
		if c.l.named[sym] {
			named = append(named, sym)
		}
	}
	if len(named) > 0 { // a keyword may have the name of a node type
		return named
	}
	return all
}

func (c *compiler) set(names string) set {
	s := set{}
	for _, name := range strings.Fields(strings.ReplaceAll(names, "|", " ")) {
		for _, sym := range c.symbols(name) {
			s[sym] = true
		}
	}
	return s
}

// rule compiles one line and files it under each of its node types.
func (c *compiler) rule(line string) {
	words := strings.Fields(line)
	if len(words) < 3 {
		c.fault("short rule %q", line)
		return
	}
	r := rule{kind: words[1], entity: entityTypes[words[1]], name: c.path(words[2])}
	if r.entity == "" && r.kind != "scope" {
		c.fault("no kind %q", r.kind)
	}
	for _, word := range words[3:] {
		c.option(&r, word)
	}
	for sym := range c.set(words[0]) {
		c.l.rules[sym] = append(c.l.rules[sym], r)
	}
}

func (c *compiler) option(r *rule, word string) {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "leaf":
		r.leaf = true
	case "top":
		r.top = true
	case "split":
		r.split = true
	case "owner":
		r.owner = c.path(value)
	case "body":
		r.body = c.path(value)
	case "if", "unless":
		way, types, limited := strings.Cut(value, ":")
		cond := condition{path: c.path(way), negate: key == "unless"}
		if limited {
			cond.types = c.set(types)
		}
		r.conditions = append(r.conditions, cond)
	case "is", "isnot":
		way, words, _ := strings.Cut(value, ":")
		r.conditions = append(r.conditions, condition{path: c.path(way), words: strings.Split(words, "|"), negate: key == "isnot"})
	case "via":
		if r.via = c.l.hooks[value]; r.via == nil {
			c.fault("no hook %q", value)
		}
	default:
		c.fault("no option %q", word)
	}
}

// entityTypes maps the kind words.
var entityTypes = map[string]codesage.EntityType{
	"function": codesage.EntityFunction, "macro": codesage.EntityFunction,
	"class": codesage.EntityClass, "struct": codesage.EntityClass, "interface": codesage.EntityClass,
	"trait": codesage.EntityClass, "protocol": codesage.EntityClass, "enum": codesage.EntityClass,
	"record": codesage.EntityClass, "type": codesage.EntityClass, "object": codesage.EntityClass,
	"module": codesage.EntityClass, "union": codesage.EntityClass, "concept": codesage.EntityClass,
	"import": codesage.EntityImport, "block": codesage.EntityTerraformBlock,
}
