// Package ignore decides which files of a tree git would ignore. It follows the
// rules of gitignore(5) as git itself applies them, down to its edge cases, and
// is held against the real git in its tests. The user's own ignore file
// (core.excludesFile) and ignore files above the tree take no part, and names
// are compared with case.
package ignore

import "strings"

// Matcher answers for one directory at a time, on a walk down a tree. Push
// enters a directory, Pop leaves it. Since git does not look into a directory
// that is ignored, a walk must not push one. It is not safe for concurrent use.
type Matcher struct {
	exclude []rule  // of .git/info/exclude: they count least
	levels  []level // from the root to the current directory
}

// level is a directory on the way down.
type level struct {
	prefix string // its path with a slash at the end; empty for the root
	rules  []rule // of its .gitignore
}

// New returns a Matcher that stands above the root. exclude is the text of
// .git/info/exclude; nil when there is none.
func New(exclude []byte) *Matcher {
	return &Matcher{exclude: parse(exclude)}
}

// Push enters a directory: the root first, whatever its name, then directories
// by their names. rules is the text of the directory's .gitignore; nil when it
// has none.
func (m *Matcher) Push(name string, rules []byte) {
	prefix := ""
	if n := len(m.levels); n > 0 {
		prefix = m.levels[n-1].prefix + name + "/"
	}
	m.levels = append(m.levels, level{prefix: prefix, rules: parse(rules)})
}

// Pop leaves the directory that was entered last.
func (m *Matcher) Pop() { m.levels = m.levels[:len(m.levels)-1] }

// Ignored reports whether git ignores an entry of the current directory. dir
// says whether the entry is a directory; a link to one is not.
func (m *Matcher) Ignored(name string, dir bool) bool {
	path := m.levels[len(m.levels)-1].prefix + name
	for i := len(m.levels) - 1; i >= 0; i-- {
		l := &m.levels[i]
		if r := last(l.rules, path[len(l.prefix):], name, dir); r != nil {
			return !r.negative
		}
	}
	if r := last(m.exclude, path, name, dir); r != nil {
		return !r.negative
	}
	return false
}

// last returns the last of the rules that match: it decides.
func last(rules []rule, path, name string, dir bool) *rule {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].match(path, name, dir) {
			return &rules[i]
		}
	}
	return nil
}

// rule is one line of an ignore file.
type rule struct {
	pattern  string // without "!", without a slash at the end, without one at the start
	literal  int    // bytes of pattern before the first special one
	negative bool   // "!": takes back what was ignored
	dirOnly  bool   // ended in a slash
	nameOnly bool   // has no slash inside: matches the last part of a path
	suffix   bool   // is "*" and then no special byte
}

// match reports whether a rule matches an entry: path is relative to the
// directory of the rule's file, name is its last part.
func (r *rule) match(path, name string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.nameOnly {
		switch {
		case r.literal == len(r.pattern):
			return r.pattern == name
		case r.suffix:
			return strings.HasSuffix(name, r.pattern[1:])
		}
		return wildmatch(r.pattern, name, false)
	}
	if !strings.HasPrefix(path, r.pattern[:r.literal]) {
		return false
	}
	// What follows the literal start is matched alone, as git does it: so "**"
	// that stands right after it counts as a whole part of the path.
	rest, left := r.pattern[r.literal:], path[r.literal:]
	if rest == "" && left == "" {
		return true
	}
	return wildmatch(rest, left, true)
}

// parse returns the rules of an ignore file in their order.
func parse(text []byte) []rule {
	var rules []rule
	s := strings.TrimPrefix(string(text), "\uFEFF")
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "\x00")
		if r, ok := parseRule(trimSpaces(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// parseRule reads one line. ok is false for a rule that can match nothing.
func parseRule(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "!") {
		r.negative = true
		line = line[1:]
	}
	whole := line
	if strings.HasSuffix(line, "/") {
		r.dirOnly = true
		line = line[:len(line)-1]
	}
	r.nameOnly = !strings.Contains(line, "/")
	r.suffix = whole != "" && whole[0] == '*' && literalLen(whole[1:]) == len(whole)-1
	if !r.nameOnly {
		line = strings.TrimPrefix(line, "/")
	}
	r.pattern, r.literal = line, literalLen(line)
	return r, line != ""
}

// literalLen returns how many bytes stand before the first that is special.
func literalLen(s string) int {
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		return i
	}
	return len(s)
}

// trimSpaces removes the spaces at the end of a line, but not one that a
// backslash keeps.
func trimSpaces(s string) string {
	end := -1 // start of the run of spaces that reaches to here
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end < 0 {
				end = i
			}
			continue
		case '\\':
			i++
			if i == len(s) {
				return s
			}
		}
		end = -1
	}
	if end >= 0 {
		return s[:end]
	}
	return s
}
