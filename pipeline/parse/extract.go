package parse

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	"codesage"
)

// The limits on what one definition may say of itself.
const (
	maxDepth     = 64       // names that qualify one
	maxQualified = 1_000    // bytes of a qualified name
	maxName      = 500      // bytes; what is longer is no name
	maxSignature = 2_000    // characters
	maxAllText   = 16 << 20 // bytes of all texts of a file's entities
)

// found is one name that a rule leads to.
type found struct {
	node  int32 // where the name stands
	name  string
	owner string // what qualifies it besides the definitions around it
	kind  string // in place of the rule's
}

// hook finds the names of a definition that no path can tell.
type hook func(x *extractor, i int32) []found

// extractor walks one tree.
type extractor struct {
	*tree
	l         *language
	lines     []int // offset of the first byte of each line
	scopes    []scope
	out       []codesage.Entity
	seen      map[key]bool
	size      int // bytes of text in out
	truncated bool

	attrStart, attrNext int32 // decorators that end where node attrNext begins, and their first byte
	wrap, wrapStart     int32 // the last wrapping node that had such
}

// scope is a node whose name qualifies what is inside.
type scope struct {
	end        int32 // the first node behind it
	qualified  string
	definition bool // it, or one around it, is a definition
	entity     key
	line       int
}

// key tells duplicates.
type key struct {
	kind  codesage.EntityType
	name  string
	start int
}

// extract returns the entities of a tree.
func extract(t *tree, l *language) ([]codesage.Entity, bool) {
	x := &extractor{tree: t, l: l, lines: lineStarts(t.text), seen: map[key]bool{}, attrNext: -1, wrap: -1}
	for i := int32(0); int(i) < len(t.nodes) && !x.truncated; {
		i = x.visit(i)
	}
	slices.SortStableFunc(x.out, func(a, b codesage.Entity) int {
		return cmp.Or(cmp.Compare(a.StartByte, b.StartByte), cmp.Compare(b.EndByte, a.EndByte))
	})
	return x.out, x.truncated
}

// visit handles node i and returns the node to visit next.
func (x *extractor) visit(i int32) int32 {
	for len(x.scopes) > 0 && x.scopes[len(x.scopes)-1].end <= i {
		x.scopes = x.scopes[:len(x.scopes)-1]
	}
	n := &x.nodes[i]
	if int(n.symbol) >= len(x.l.rules) { // a syntax error: what is in it still counts
		return i + 1
	}
	decorated := x.attrNext == i
	if x.l.attrs[n.symbol] {
		if !decorated {
			x.attrStart = int32(n.start)
		}
		x.attrNext = n.next
		return n.next
	}
	if decorated && x.l.paint[n.symbol] == paintComment {
		x.attrNext = n.next
		return n.next
	}
	start := int32(n.start)
	if decorated {
		start = x.attrStart
		if x.l.wraps[n.symbol] {
			x.wrap, x.wrapStart = i, start
		}
	}
	if r := x.match(i); r != nil {
		x.define(i, r, start)
		if r.leaf {
			return n.next
		}
	}
	return i + 1
}

// match returns the rule that makes node i a definition, or nil.
func (x *extractor) match(i int32) *rule {
	rules := x.l.rules[x.nodes[i].symbol]
next:
	for r := range rules {
		if rules[r].top && x.inside() {
			continue
		}
		for _, c := range rules[r].conditions {
			if x.holds(i, c) == c.negate {
				continue next
			}
		}
		return &rules[r]
	}
	return nil
}

// inside reports whether the walk is inside of a definition.
func (x *extractor) inside() bool {
	return len(x.scopes) > 0 && x.scopes[len(x.scopes)-1].definition
}

func (x *extractor) holds(i int32, c condition) bool {
	for _, n := range x.resolve(i, c.path) {
		if c.words != nil && !slices.Contains(c.words, x.string(n)) {
			continue
		}
		if c.types == nil || c.types[x.nodes[n].symbol] {
			return true
		}
	}
	return false
}

// define adds what a rule finds at node i.
func (x *extractor) define(i int32, r *rule, start int32) {
	for _, f := range x.names(i, r) {
		f.name = cleanName(f.name, r.entity == codesage.EntityImport)
		if f.name == "" {
			continue
		}
		qualified := f.name
		if r.entity != codesage.EntityImport {
			qualified = x.qualify(f)
		}
		s := scope{end: x.nodes[i].next, qualified: qualified, definition: x.inside()}
		if r.kind != "scope" {
			s.definition = true
			s.entity, s.line = x.add(i, r, f, qualified, start)
		}
		if r.entity != codesage.EntityImport {
			x.scopes = append(x.scopes, s)
		}
	}
}

// names returns the names that a rule leads to.
func (x *extractor) names(i int32, r *rule) []found {
	var out []found
	if r.via != nil {
		out = r.via(x, i)
	} else {
		for _, n := range x.resolve(i, r.name) {
			out = append(out, found{node: n, name: x.string(n)})
		}
	}
	for f := range out {
		if r.owner != nil {
			if o := x.first(i, r.owner); o >= 0 {
				out[f].owner = cleanName(x.string(o), false)
			}
		}
		if r.split {
			owner, name := splitName(out[f].name)
			out[f].owner, out[f].name = cmp.Or(owner, out[f].owner), name
		}
	}
	return out
}

// qualify puts a name behind those of the definitions around it.
func (x *extractor) qualify(f found) string {
	qualified := f.name
	if f.owner != "" {
		qualified = f.owner + "." + f.name
	}
	if len(x.scopes) == 0 {
		return qualified
	}
	around := x.scopes[min(len(x.scopes), maxDepth)-1].qualified
	if len(around)+len(qualified) > maxQualified {
		return qualified
	}
	return around + "." + qualified
}

// add appends one entity and returns its key and its first line.
func (x *extractor) add(i int32, r *rule, f found, qualified string, start int32) (key, int) {
	from, outer := x.extent(i, start)
	end := x.trimmedEnd(outer)
	from = x.behindSpace(from)
	e := codesage.Entity{
		Type:        r.entity,
		Name:        f.name,
		Description: valid(x.l.label + " " + cmp.Or(f.kind, r.kind) + ": " + qualified),
		LineStart:   x.line(from),
		LineEnd:     x.line(max(from, end-1)),
		StartByte:   from,
		EndByte:     end,
		NameLine:    x.line(x.behindSpace(int(x.nodes[f.node].start))),
	}
	if r.entity == codesage.EntityImport {
		e.NameLine = 0
	}
	k := key{e.Type, e.Name, e.StartByte}
	if x.seen[k] || x.repeats(k, e.LineStart) {
		return k, e.LineStart
	}
	x.seen[k] = true
	e.Signature = x.signature(i, outer, r)
	x.size += len(e.Name) + len(e.Description) + len(e.Signature)
	if len(x.out) == MaxEntities || x.size > maxAllText {
		x.truncated = true
		return k, e.LineStart
	}
	x.out = append(x.out, e)
	return k, e.LineStart
}

// repeats reports whether the definition right around says the same: a named C
// struct inside its typedef.
func (x *extractor) repeats(k key, line int) bool {
	if len(x.scopes) == 0 {
		return false
	}
	s := x.scopes[len(x.scopes)-1]
	return s.line == line && s.entity.kind == k.kind && s.entity.name == k.name
}

// extent returns where the definition at node i begins, decorators included,
// and the node that wraps it, which is i itself when none does.
func (x *extractor) extent(i, start int32) (int, int32) {
	for {
		p := x.nodes[i].parent
		if p < 0 || !x.wraps(p) || !x.onlyChild(p, i) {
			return int(start), i
		}
		i, start = p, min(start, int32(x.nodes[p].start))
		if p == x.wrap {
			start = min(start, x.wrapStart)
		}
	}
}

func (x *extractor) wraps(i int32) bool { return x.l.wraps[x.nodes[i].symbol] }

// onlyChild reports whether i is the last child of p and the only one that is
// neither attribute nor comment nor keyword nor a field other than i's.
func (x *extractor) onlyChild(p, i int32) bool {
	for n := x.firstChild(p); n >= 0; n = x.nextSibling(n) {
		sym := x.nodes[n].symbol
		if n == i || int(sym) >= len(x.l.named) || !x.l.named[sym] || x.l.attrs[sym] || x.l.paint[sym] == paintComment {
			continue
		}
		if n > i || x.nodes[n].field == x.nodes[i].field {
			return false
		}
	}
	return true
}

// trimmedEnd returns the end of a node without the white space that some
// grammars let it run over.
func (x *extractor) trimmedEnd(i int32) int {
	n := &x.nodes[i]
	return int(n.start) + len(bytes.TrimRight(x.text[n.start:n.end], " \t\r\n\f\v"))
}

// behindSpace returns the first place from offset on that is not white space:
// some grammars begin a node with the end of the line before.
func (x *extractor) behindSpace(offset int) int {
	rest := x.text[offset:]
	return offset + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
}

// line returns the number of the line that holds a byte.
func (x *extractor) line(offset int) int {
	return sort.SearchInts(x.lines, offset+1)
}

// lineStarts returns the offset of each line. Lines end at LF only.
func lineStarts(text []byte) []int {
	starts := make([]int, 1, 1+bytes.Count(text, []byte{'\n'}))
	for i, b := range text {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// valid makes a text valid UTF-8 and drops a trailing CR.
func valid(s string) string {
	return strings.TrimRight(strings.ToValidUTF8(s, "\uFFFD"), "\r")
}
