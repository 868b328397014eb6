package pattern

// op says what a node of a parsed pattern matches.
type op uint8

const (
	opEmpty     op = iota // the empty text
	opFail                // nothing
	opSet                 // one character of set
	opConcat              // subs, one after another
	opAlternate           // one of subs
	opRepeat              // subs[0], min to max times
	opGroup               // subs[0], captured as group
	opBackref             // what group captured
	opAtomic              // subs[0], without going back into it
	opLook                // subs[0] ahead or behind, or not
	opBegin               // the start of the line
	opEnd                 // the end of the line
	opBoundary            // a word boundary, or none
	opCond                // subs[0] when group has captured, else subs[1]
)

// unlimited is the max of a repeat without one.
const unlimited = -1

// node is a node of a parsed pattern. Only lines are matched, which hold no
// LF, so anchors of lines and of the text are the same.
type node struct {
	op         op
	set        runes
	tables     string // for the backtracking engine: the set as a class without brackets, when that is brief
	inverted   bool   // tables names what is not in the set
	subs       []*node
	min, max   int
	possessive bool
	lazy       bool
	group      int
	fold       bool // opBackref: case is ignored
	behind     bool
	negative   bool
	ascii      bool // opBoundary: words are of ASCII letters, digits and _
}

func empty() *node { return &node{op: opEmpty} }

// joined is a sequence or an alternation; of one part it is that part.
func joined(o op, parts []*node) *node {
	switch {
	case len(parts) == 1:
		return parts[0]
	case len(parts) == 0:
		return empty()
	}
	return &node{op: o, subs: parts}
}

// grouped keeps a repeat in parentheses from being taken for a bare one, which
// must not be repeated again.
func grouped(n *node) *node {
	if n != nil && n.op == opRepeat {
		return &node{op: opConcat, subs: []*node{n}}
	}
	return n
}

// any reports whether f holds for a node of the tree.
func (n *node) any(f func(*node) bool) bool {
	if f(n) {
		return true
	}
	for _, s := range n.subs {
		if s.any(f) {
			return true
		}
	}
	return false
}

// backtracks reports whether the tree is more than a regular expression in the
// strict sense.
func (n *node) backtracks() bool {
	return n.any(func(n *node) bool {
		switch n.op {
		case opBackref, opAtomic, opLook, opCond:
			return true
		}
		return n.possessive
	})
}
