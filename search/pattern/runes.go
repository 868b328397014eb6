package pattern

import (
	"slices"
	"sort"
	"sync"
	"unicode"
)

// runes is a set of characters: sorted pairs of first and last, which neither
// touch nor overlap. It is never changed in place.
type runes []rune

const maxRune = unicode.MaxRune

// newline is in no line.
var newline = single('\n')

// ascii holds every ASCII character.
var ascii = runes{0, unicode.MaxASCII}

func single(r rune) runes { return runes{r, r} }

// collect makes a set of pairs in any order.
func collect(pairs []rune) runes {
	ranges := make([][2]rune, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		ranges = append(ranges, [2]rune{pairs[i], pairs[i+1]})
	}
	slices.SortFunc(ranges, func(a, b [2]rune) int { return int(a[0]) - int(b[0]) })
	var set runes
	for _, r := range ranges {
		if n := len(set); n > 0 && r[0] <= set[n-1]+1 {
			set[n-1] = max(set[n-1], r[1])
			continue
		}
		set = append(set, r[0], r[1])
	}
	return set
}

// of returns the characters of Unicode tables.
func of(tables ...*unicode.RangeTable) runes {
	var pairs []rune
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			pairs = append(pairs, lo, hi)
			return
		}
		for r := lo; r <= hi; r += stride {
			pairs = append(pairs, r, r)
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return collect(pairs)
}

func (s runes) has(r rune) bool {
	i := sort.Search(len(s)/2, func(i int) bool { return s[2*i+1] >= r })
	return 2*i < len(s) && s[2*i] <= r
}

func (s runes) or(t runes) runes { return s.not().and(t.not()).not() }

func (s runes) not() runes {
	var out runes
	next := rune(0)
	for i := 0; i < len(s); i += 2 {
		if s[i] > next {
			out = append(out, next, s[i]-1)
		}
		next = s[i+1] + 1
	}
	if next <= maxRune {
		out = append(out, next, maxRune)
	}
	return out
}

func (s runes) and(t runes) runes {
	var out runes
	for i, j := 0, 0; i < len(s) && j < len(t); {
		first, last := max(s[i], t[j]), min(s[i+1], t[j+1])
		if first <= last {
			out = append(out, first, last)
		}
		if s[i+1] < t[j+1] {
			i += 2
		} else {
			j += 2
		}
	}
	return out
}

func (s runes) without(t runes) runes { return s.and(t.not()) }

// size returns how many characters the set has.
func (s runes) size() int {
	n := 0
	for i := 0; i < len(s); i += 2 {
		n += int(s[i+1]-s[i]) + 1
	}
	return n
}

// pairs that Python's regex takes for cases of each other and Go does not.
var moreCases = [][2]rune{{'I', 'ı'}, {'i', 'İ'}, {0x390, 0x1FD3}, {0x3B0, 0x1FE3}, {0xFB05, 0xFB06}}

// cases maps every character that has other cases to them.
var cases = sync.OnceValue(func() map[rune][]rune {
	m := map[rune][]rune{}
	for r := rune(0); r <= 0x1FFFF; r++ {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			m[r] = append(m[r], f)
		}
	}
	for _, p := range moreCases {
		m[p[0]] = append(m[p[0]], p[1])
		m[p[1]] = append(m[p[1]], p[0])
	}
	return m
})

// fold adds the other cases of every member; of ASCII letters only when the
// pattern is in ASCII mode.
func (s runes) fold(asciiOnly bool) runes {
	pairs := slices.Clone(s)
	for r, others := range cases() {
		if !s.has(r) || asciiOnly && r > unicode.MaxASCII {
			continue
		}
		for _, o := range others {
			if !asciiOnly || o <= unicode.MaxASCII {
				pairs = append(pairs, o, o)
			}
		}
	}
	return collect(pairs)
}
