package index

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A TriQuery is a condition on the trigrams of a file, which every file with a
// certain text or match fulfils: all of tri and, for each list in alts, one of
// its members. The zero TriQuery holds for every file.
type TriQuery struct {
	tri  []uint32
	alts [][]TriQuery
}

// Empty reports whether q holds for every file, so that an index does not help.
func (q TriQuery) Empty() bool { return len(q.tri)+len(q.alts) == 0 }

// Literal returns what holds for every file that contains text, byte for byte
// or with ASCII letters in another case.
func Literal(text string) TriQuery {
	var q TriQuery
	for i := 0; i+3 <= len(text); i++ {
		q.tri = append(q.tri, uint32(foldByte[text[i]])<<16|uint32(foldByte[text[i+1]])<<8|uint32(foldByte[text[i+2]]))
	}
	slices.Sort(q.tri)
	q.tri = slices.Compact(q.tri)
	return q
}

// Regexp returns what holds for every file that a Go regular expression
// matches, whatever the file's encoding.
func Regexp(expr string) (TriQuery, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return TriQuery{}, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return RegexpTree(re), nil
}

// RegexpTree is Regexp for an expression that is parsed already.
func RegexpTree(re *syntax.Regexp) TriQuery { return require(re).condition() }

// maxLits bounds the sets of literals that concatenation multiplies out.
const maxLits = 24

// required is what is known about the matches of an expression.
type required struct {
	lits  []string // with known: every match is one of them, folded
	known bool
	cond  TriQuery // holds for a file with a match, besides
}

// condition is what a file with a match fulfils.
func (r required) condition() TriQuery {
	if !r.known {
		return r.cond
	}
	return r.cond.and(anyLiteral(r.lits))
}

var (
	emptyMatch = required{lits: []string{""}, known: true}
	unknown    = required{}
)

func require(re *syntax.Regexp) required {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return emptyMatch
	case syntax.OpLiteral:
		return pieces(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return requireClass(re.Rune)
	case syntax.OpCapture:
		return require(re.Sub[0])
	case syntax.OpPlus:
		return required{cond: require(re.Sub[0]).condition()}
	case syntax.OpQuest:
		if sub := require(re.Sub[0]); sub.known && len(sub.lits) < maxLits {
			return required{lits: append(slices.Clone(sub.lits), ""), known: true}
		}
	case syntax.OpRepeat:
		return requireRepeat(re)
	case syntax.OpConcat:
		subs := make([]required, len(re.Sub))
		for i, sub := range re.Sub {
			subs[i] = require(sub)
		}
		return concat(subs)
	case syntax.OpAlternate:
		return requireAlternate(re.Sub)
	}
	return unknown // OpStar, OpAnyChar, OpAnyCharNotNL, OpNoMatch
}

// requireClass is for a class of few characters; ranges are pairs of runes.
func requireClass(ranges []rune) required {
	var lits []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			// The replacement character also matches any byte that is not UTF-8.
			if len(lits) == maxLits || r == utf8.RuneError {
				return unknown
			}
			lits = append(lits, string(foldRune(r)))
		}
	}
	if len(lits) == 0 {
		return unknown
	}
	slices.Sort(lits)
	return required{lits: slices.Compact(lits), known: true}
}

func requireRepeat(re *syntax.Regexp) required {
	if re.Min == 0 {
		return unknown
	}
	const most = 16 // copies that are multiplied out
	n := min(re.Min, most)
	subs := slices.Repeat([]required{require(re.Sub[0])}, n)
	if n != re.Max {
		subs = append(subs, unknown)
	}
	return concat(subs)
}

// concat joins what is known of neighbours: literals are multiplied out until
// they are too many or something unknown follows.
func concat(subs []required) required {
	var out required
	broken := false
	cur := []string{""}
	for _, s := range subs {
		out.cond = out.cond.and(s.cond)
		if s.known && len(cur)*len(s.lits) <= maxLits {
			next := make([]string, 0, len(cur)*len(s.lits))
			for _, a := range cur {
				for _, b := range s.lits {
					next = append(next, a+b)
				}
			}
			cur = next
			continue
		}
		broken = true
		out.cond = out.cond.and(anyLiteral(cur))
		if cur = []string{""}; s.known {
			cur = s.lits
		}
	}
	if broken {
		out.cond = out.cond.and(anyLiteral(cur))
		return out
	}
	out.lits, out.known = cur, true
	return out
}

func requireAlternate(res []*syntax.Regexp) required {
	out := required{known: true}
	var alts []TriQuery
	open := false // an alternative that says nothing
	for _, re := range res {
		sub := require(re)
		c := sub.condition()
		alts = append(alts, c)
		open = open || c.Empty()
		if !sub.known || !sub.cond.Empty() || len(out.lits)+len(sub.lits) > maxLits {
			out.known = false
		}
		if out.known {
			out.lits = append(out.lits, sub.lits...)
		}
	}
	if out.known {
		return out
	}
	if open {
		return unknown
	}
	return required{cond: TriQuery{alts: [][]TriQuery{alts}}}
}

// pieces is for a literal. A character that matches others than its two ASCII
// cases breaks it.
func pieces(runes []rune, fold bool) required {
	var subs []required
	start := 0
	for i, r := range runes {
		if !breaks(r, fold) {
			continue
		}
		subs = append(subs, literal(runes[start:i]), unknown)
		start = i + 1
	}
	return concat(append(subs, literal(runes[start:])))
}

func literal(runes []rune) required {
	b := make([]byte, 0, len(runes))
	for _, r := range runes {
		b = utf8.AppendRune(b, foldRune(r))
	}
	return required{lits: []string{string(b)}, known: true}
}

// breaks reports whether r, in a literal, stands for more than one character
// when ASCII case is folded ('k' also folds to the Kelvin sign), or for bytes
// that are no character.
func breaks(r rune, fold bool) bool {
	if r == utf8.RuneError || !utf8.ValidRune(r) {
		return true
	}
	if !fold {
		return false
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f >= utf8.RuneSelf || r >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func foldRune(r rune) rune {
	if r >= 0 && r < utf8.RuneSelf {
		return rune(foldByte[r])
	}
	return r
}

// anyLiteral is what holds for a file with one of the literals.
func anyLiteral(lits []string) TriQuery {
	if len(lits) == 0 {
		return TriQuery{}
	}
	alts := make([]TriQuery, len(lits))
	for i, l := range lits {
		if alts[i] = Literal(l); alts[i].Empty() {
			return TriQuery{}
		}
	}
	if len(alts) == 1 {
		return alts[0]
	}
	return TriQuery{alts: [][]TriQuery{alts}}
}

func (q TriQuery) and(r TriQuery) TriQuery {
	tri := slices.Concat(q.tri, r.tri)
	slices.Sort(tri)
	return TriQuery{slices.Compact(tri), slices.Concat(q.alts, r.alts)}
}
