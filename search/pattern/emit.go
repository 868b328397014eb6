package pattern

import (
	"fmt"
	"regexp"
	"strings"
)

// manyRanges is when a set is written as Unicode tables if it can be.
const manyRanges = 40

// classBody writes a set as a class without brackets, which both engines read.
func classBody(set runes) string {
	var b strings.Builder
	for i := 0; i < len(set); i += 2 {
		b.WriteString(classRune(set[i]))
		if set[i+1] > set[i] {
			b.WriteByte('-')
			b.WriteString(classRune(set[i+1]))
		}
	}
	return b.String()
}

func classRune(r rune) string {
	if strings.ContainsRune(`\]^[-&~:`, r) {
		return `\` + string(r)
	}
	return string(r)
}

// surrogates are in no text, and no engine can be given one.
var surrogates = runes{0xD800, 0xDFFF}

// dialect says for which engine, and for what use, a pattern is written.
type dialect struct {
	backtracking bool // for regexp2, else for regexp
	within       runes
	loose        bool // may match more: without anchors, boundaries and looks
	coarse       bool // with loose: sets of many characters become any character
}

// manyChars is from how many characters on an index can't use a set.
const manyChars = 24

// write returns the tree as an expression of the dialect.
func (d dialect) write(n *node) string {
	var b strings.Builder
	d.node(&b, n)
	return b.String()
}

func (d dialect) node(b *strings.Builder, n *node) {
	switch n.op {
	case opFail:
		d.fail(b)
	case opSet:
		d.set(b, n)
	case opConcat:
		for _, s := range n.subs {
			d.part(b, s)
		}
	case opAlternate:
		for i, s := range n.subs {
			if i > 0 {
				b.WriteByte('|')
			}
			d.node(b, s)
		}
	case opRepeat:
		d.repeat(b, n)
	case opGroup:
		d.group(b, n)
	case opBackref, opAtomic, opLook, opCond:
		if d.loose {
			d.approximate(b, n)
		} else {
			d.backtrack(b, n)
		}
	case opBegin, opEnd, opBoundary:
		if !d.loose {
			d.assertion(b, n)
		}
	}
}

// part writes a part of a sequence.
func (d dialect) part(b *strings.Builder, n *node) {
	if n.op == opAlternate {
		d.enclose(b, "(?:", n)
		return
	}
	d.node(b, n)
}

func (d dialect) enclose(b *strings.Builder, open string, n *node) {
	b.WriteString(open)
	d.node(b, n)
	b.WriteByte(')')
}

// set writes a set. An LF is left out: it is in no line, and without it a match
// in a text of many lines stays in one.
func (d dialect) set(b *strings.Builder, n *node) {
	set := n.set.without(newline).without(surrogates)
	if d.within != nil {
		set = set.and(d.within)
	}
	switch {
	case len(set) == 0:
		d.fail(b)
	case len(set) == 2 && set[0] == set[1] && !d.backtracking:
		b.WriteString(regexp.QuoteMeta(string(set[0])))
	case d.coarse && set.size() > manyChars:
		b.WriteString(`[^\n]`)
	case d.backtracking && len(set) > manyRanges && n.tables != "":
		b.WriteByte('[')
		if n.inverted {
			b.WriteByte('^')
		}
		b.WriteString(n.tables + "]")
	default:
		b.WriteString("[" + classBody(set) + "]")
	}
}

func (d dialect) fail(b *strings.Builder) {
	if d.backtracking {
		b.WriteString(`(?!)`)
		return
	}
	b.WriteString(`[^\x00-\x{10FFFF}]`)
}

// hugeCount is the largest count that the backtracking engine is given; no line
// is as long.
const hugeCount = 1 << 30

func (d dialect) repeat(b *strings.Builder, n *node) {
	atomic := n.possessive && !d.loose
	if atomic {
		b.WriteString("(?>")
	}
	d.enclose(b, "(?:", n.subs[0])
	lo, hi := min(n.min, hugeCount), min(n.max, hugeCount)
	switch {
	case d.loose && hi == 1, lo == 0 && hi == 1:
		b.WriteByte('?')
	case d.loose && lo > 0, lo == 1 && hi == unlimited:
		b.WriteByte('+')
	case d.loose, lo == 0 && hi == unlimited:
		b.WriteByte('*')
	case hi == unlimited:
		fmt.Fprintf(b, "{%d,}", lo)
	default:
		fmt.Fprintf(b, "{%d,%d}", lo, hi)
	}
	if n.lazy && d.backtracking {
		b.WriteByte('?')
	}
	if atomic {
		b.WriteByte(')')
	}
}

func (d dialect) group(b *strings.Builder, n *node) {
	if d.backtracking {
		d.enclose(b, fmt.Sprintf("(?<g%d>", n.group), n.subs[0])
		return
	}
	d.enclose(b, "(?:", n.subs[0])
}

// approximate writes something that matches where the node does.
func (d dialect) approximate(b *strings.Builder, n *node) {
	switch n.op {
	case opBackref:
		b.WriteString(`[^\n]*`)
	case opAtomic:
		d.enclose(b, "(?:", n.subs[0])
	case opCond:
		d.enclose(b, "(?:(?:", n.subs[0])
		d.enclose(b, "|(?:", n.subs[1])
		b.WriteByte(')')
	}
}

// backtrack writes what only the backtracking engine has.
func (d dialect) backtrack(b *strings.Builder, n *node) {
	switch n.op {
	case opBackref:
		if n.fold {
			fmt.Fprintf(b, `(?i:\k<g%d>)`, n.group)
			return
		}
		fmt.Fprintf(b, `\k<g%d>`, n.group)
	case opAtomic:
		d.enclose(b, "(?>", n.subs[0])
	case opCond:
		fmt.Fprintf(b, "(?(g%d)", n.group)
		d.enclose(b, "(?:", n.subs[0])
		d.enclose(b, "|(?:", n.subs[1])
		b.WriteByte(')')
	case opLook:
		open := map[[2]bool]string{
			{false, false}: "(?=", {false, true}: "(?!", {true, false}: "(?<=", {true, true}: "(?<!",
		}
		d.enclose(b, open[[2]bool{n.behind, n.negative}], n.subs[0])
	}
}

// assertion writes an anchor or a word boundary.
func (d dialect) assertion(b *strings.Builder, n *node) {
	switch {
	case n.op == opBegin:
		b.WriteString(`\A`)
	case n.op == opEnd:
		b.WriteString(`\z`)
	case !d.backtracking && n.negative:
		b.WriteString(`\B`)
	case !d.backtracking:
		b.WriteString(`\b`)
	default:
		word := wordTables()
		if n.ascii || d.within != nil {
			word = "0-9A-Z_a-z"
		}
		first, second := "!", "="
		if n.negative {
			first, second = "=", "!"
		}
		fmt.Fprintf(b, `(?:(?<=[%s])(?%s[%s])|(?<![%s])(?%s[%s]))`, word, first, word, word, second, word)
	}
}
