package parse

import "strings"

// route leads from a node to others: alternatives, each a list of steps. It is
// written a/b|c with these steps:
//
//	f      the child that is field f
//	f*     field f, again and again
//	#t     the first child of type t
//	>t     the first node of type t in the subtree, itself included
//	^      the parent
//	.      the node itself
//
// A step may end in + (every such child, not the first only) and in ~t (a node
// of type t is replaced by its first child).
type route [][]step

type step struct {
	op      byte // f * # > ^ .
	field   uint16
	types   set
	all     bool
	through set
}

// maxDescent bounds the nodes that a > step looks at.
const maxDescent = 256

func (c *compiler) path(text string) route {
	if text == "-" {
		return nil
	}
	var p route
	for alternative := range strings.SplitSeq(text, "|") {
		var steps []step
		for word := range strings.SplitSeq(alternative, "/") {
			steps = append(steps, c.step(word))
		}
		p = append(p, steps)
	}
	return p
}

func (c *compiler) step(word string) step {
	var s step
	word, through, ok := strings.Cut(word, "~")
	if ok {
		s.through = c.set(strings.ReplaceAll(through, "~", " "))
	}
	word, s.all = strings.CutSuffix(word, "+")
	switch {
	case word == "." || word == "^":
		s.op = word[0]
	case strings.HasPrefix(word, "#") || strings.HasPrefix(word, ">"):
		s.op, s.types = word[0], c.set(word[1:])
	default:
		s.op = 'f'
		if strings.HasSuffix(word, "*") {
			s.op, word = '*', word[:len(word)-1]
		}
		if s.field, ok = c.l.fields[word]; !ok {
			c.fault("no field %q", word)
		}
	}
	return s
}

// resolve returns the nodes that a path leads to from i: those of the first
// alternative that leads anywhere.
func (t *tree) resolve(i int32, p route) []int32 {
	for _, steps := range p {
		at := []int32{i}
		for _, s := range steps {
			var next []int32
			for _, n := range at {
				next = t.take(n, s, next)
			}
			at = next
		}
		if len(at) > 0 {
			return at
		}
	}
	return nil
}

// first returns the first node that a path leads to, or -1.
func (t *tree) first(i int32, p route) int32 {
	if at := t.resolve(i, p); len(at) > 0 {
		return at[0]
	}
	return -1
}

// take appends what one step leads to.
func (t *tree) take(i int32, s step, out []int32) []int32 {
	switch s.op {
	case '.':
		return append(out, t.unwrap(i, s.through))
	case '^':
		if p := t.nodes[i].parent; p >= 0 {
			out = append(out, p)
		}
		return out
	case '>':
		end := min(t.nodes[i].next, i+maxDescent)
		for n := i; n < end; n++ {
			if s.types[t.nodes[n].symbol] {
				return append(out, n)
			}
		}
		return out
	case '*':
		return t.follow(i, s, out)
	}
	for n := t.firstChild(i); n >= 0; n = t.nextSibling(n) {
		if s.op == 'f' && t.nodes[n].field == s.field || s.op == '#' && s.types[t.nodes[n].symbol] {
			out = append(out, t.unwrap(n, s.through))
			if !s.all {
				break
			}
		}
	}
	return out
}

// follow takes a field as often as there is one. It leads somewhere only when
// the first node has the field.
func (t *tree) follow(i int32, s step, out []int32) []int32 {
	at := i
	for {
		n := t.child(at, s.field)
		if n < 0 && s.through[t.nodes[at].symbol] {
			n = t.firstChild(at)
		}
		if n < 0 {
			break
		}
		at = n
	}
	if at == i {
		return out
	}
	return append(out, at)
}

func (t *tree) unwrap(i int32, through set) int32 {
	for through[t.nodes[i].symbol] {
		n := t.firstChild(i)
		if n < 0 {
			break
		}
		i = n
	}
	return i
}

// child returns the child of i that is a field, or -1.
func (t *tree) child(i int32, field uint16) int32 {
	if field == 0 {
		return -1
	}
	for n := t.firstChild(i); n >= 0; n = t.nextSibling(n) {
		if t.nodes[n].field == field {
			return n
		}
	}
	return -1
}
