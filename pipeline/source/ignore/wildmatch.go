package ignore

import "strings"

// result is how an attempt to match ended. The last two say that no later start
// can succeed either, which keeps the search short.
type result uint8

const (
	noMatch         result = iota + 1
	matched                // whole text by the whole pattern
	abortAll               // the text is too short for any "*" before
	abortToStarStar        // only a "**" before can still succeed
)

// memoAfter is the number of attempts after which results are kept: only odd
// patterns come so far, and without it they would take exponential time.
const memoAfter = 200

// wild is one match of a pattern with a text. It follows git's wildmatch case
// by case. In a path, "*", "?" and a set never match a slash and "**" as a
// whole part does.
type wild struct {
	pattern, text string
	path          bool
	attempts      int
	memo          map[[2]int]result
}

// wildmatch reports whether the pattern matches the whole text.
func wildmatch(pattern, text string, path bool) bool {
	w := wild{pattern: pattern, text: text, path: path}
	return w.match(0, 0) == matched
}

// at returns a byte of s, or 0 behind its end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// match matches the rest of the pattern from p with the rest of the text from t.
func (w *wild) match(p, t int) result {
	w.attempts++
	if w.attempts < memoAfter {
		return w.run(p, t)
	}
	key := [2]int{p, t}
	if r, ok := w.memo[key]; ok {
		return r
	}
	r := w.run(p, t)
	if w.memo == nil {
		w.memo = make(map[[2]int]result)
	}
	w.memo[key] = r
	return r
}

func (w *wild) run(p, t int) result {
	start := p
	for ; p < len(w.pattern); p, t = p+1, t+1 {
		pc, tc := w.pattern[p], at(w.text, t)
		if tc == 0 && pc != '*' {
			return abortAll
		}
		switch pc {
		case '\\':
			p++
			if at(w.pattern, p) != tc {
				return noMatch
			}
		case '?':
			if w.path && tc == '/' {
				return noMatch
			}
		case '*':
			next, slashAt, r := w.star(start, p, t)
			if r != 0 {
				return r
			}
			p, t = next, slashAt
		case '[':
			end, in, r := set(w.pattern, p, tc)
			if r != 0 {
				return r
			}
			if !in || w.path && tc == '/' {
				return noMatch
			}
			p = end
		default:
			if pc != tc {
				return noMatch
			}
		}
	}
	if t < len(w.text) {
		return noMatch
	}
	return matched
}

// star goes on from a run of stars at p. Without a result, the star was one part
// of a path: p and t then stand on the slash behind it.
func (w *wild) star(start, p, t int) (slashP, slashT int, r result) {
	first := p
	for at(w.pattern, p) == '*' {
		p++
	}
	slashes := !w.path
	if w.path && p-first > 1 {
		opens := first == start || w.pattern[first-1] == '/'
		next := at(w.pattern, p)
		if opens && (next == 0 || next == '/' || next == '\\' && at(w.pattern, p+1) == '/') {
			// "x/**/y" matches "x/y" too.
			if next == '/' && w.match(p+1, t) == matched {
				return 0, 0, matched
			}
			slashes = true
		}
	}
	switch {
	case p == len(w.pattern):
		if !slashes && strings.Contains(w.text[t:], "/") {
			return 0, 0, noMatch
		}
		return 0, 0, matched
	case !slashes && w.pattern[p] == '/':
		i := strings.IndexByte(w.text[t:], '/')
		if i < 0 {
			return 0, 0, noMatch
		}
		return p, t + i, 0
	}
	return 0, 0, w.scan(p, t, slashes)
}

// scan tries the pattern behind a star at every place that the star can reach.
func (w *wild) scan(p, t int, slashes bool) result {
	for t < len(w.text) {
		tc := w.text[t]
		if pc := w.pattern[p]; !special(pc) {
			// Go straight to the next place where the literal behind the star
			// stands.
			for t < len(w.text) && (slashes || w.text[t] != '/') && w.text[t] != pc {
				t++
			}
			if tc = at(w.text, t); tc != pc {
				return noMatch
			}
		}
		if r := w.match(p, t); r != noMatch {
			if !slashes || r != abortToStarStar {
				return r
			}
		} else if !slashes && tc == '/' {
			return abortToStarStar
		}
		t++
	}
	return abortAll
}

func special(c byte) bool { return c == '*' || c == '?' || c == '[' || c == '\\' }

// set matches a byte with the set that opens at p. It returns where the set
// ends; a set that never ends, or names an unknown class, matches nothing.
func set(pattern string, p int, tc byte) (end int, in bool, r result) {
	p++
	negated := at(pattern, p) == '!' || at(pattern, p) == '^'
	if negated {
		p++
	}
	found := false
	var before byte // the byte that a range starts from; 0 = none
	for first := true; first || at(pattern, p) != ']'; first = false {
		c := at(pattern, p)
		switch {
		case c == 0:
			return 0, false, abortAll
		case c == '\\':
			p++
			if c = at(pattern, p); c == 0 {
				return 0, false, abortAll
			}
			found = found || tc == c
		case c == '-' && before != 0 && at(pattern, p+1) != 0 && at(pattern, p+1) != ']':
			p++
			if c = at(pattern, p); c == '\\' {
				p++
				if c = at(pattern, p); c == 0 {
					return 0, false, abortAll
				}
			}
			found = found || tc >= before && tc <= c
			c = 0
		case c == '[' && at(pattern, p+1) == ':':
			n := strings.IndexByte(pattern[p+2:], ']')
			if n < 0 {
				return 0, false, abortAll
			}
			if n == 0 || pattern[p+1+n] != ':' {
				found = found || tc == '[' // no class: a plain bracket
				break
			}
			is, ok := classes[pattern[p+2:p+1+n]]
			if !ok {
				return 0, false, abortAll
			}
			found = found || is(tc)
			p += 2 + n
			c = 0
		default:
			found = found || tc == c
		}
		before = c
		p++
	}
	return p, found != negated, 0
}

// classes are the named sets: of ASCII, as git's own character table has them.
var classes = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return alpha(c) || digit(c) },
	"alpha":  alpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < 0x20 || c == 0x7F },
	"digit":  digit,
	"graph":  func(c byte) bool { return c > 0x20 && c < 0x7F },
	"lower":  lower,
	"print":  func(c byte) bool { return c >= 0x20 && c < 0x7F },
	"punct":  func(c byte) bool { return c > 0x20 && c < 0x7F && !alpha(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' },
	"upper":  upper,
	"xdigit": func(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' },
}

func lower(c byte) bool { return c >= 'a' && c <= 'z' }
func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func alpha(c byte) bool { return lower(c) || upper(c) }
func digit(c byte) bool { return c >= '0' && c <= '9' }
