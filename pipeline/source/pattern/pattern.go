// Package pattern matches paths with the patterns that people give to include,
// exclude and find files. In a pattern
//
//	?       is any character, a slash too
//	*       is any run of characters, slashes too
//	**      as a whole part of a path is any number of whole parts, none too
//	[abc]   is one of a set, [a-z] of a range, [!abc] none of them
//	{a,b}   is any of the alternatives
//
// and every other character is itself; there is no escape but a set of one:
// [*]. Braces that do not balance, or hold no comma, are plain characters. Case
// counts, and a leading dot is like any other.
package pattern

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of one pattern: its characters, and what its braces expand to.
const (
	maxLength       = 4096
	maxAlternatives = 1000
)

// DefaultExclude returns the patterns that leave files out of a folder when
// none are given.
func DefaultExclude() []string {
	return []string{
		"**/target/**", "**/node_modules/**", "**/.git/**", "**/dist/**", "**/build/**",
		"**/*.pyc", "**/__pycache__/**", "**/.venv/**", "**/venv/**",
	}
}

// Excludes returns the patterns that leave files out, given those that were
// chosen: none means the default ones.
func Excludes(chosen []string) []string {
	if len(chosen) == 0 {
		return DefaultExclude()
	}
	return chosen
}

// Error says what is wrong with a pattern and where: Pos counts characters.
type Error struct {
	Pattern string
	Pos     int
	Reason  string
}

// Error does not repeat the pattern: whoever shows it says which one was given.
func (e *Error) Error() string {
	return fmt.Sprintf("Pattern syntax error near position %d: %s", e.Pos, e.Reason)
}

const (
	badRange     = "invalid range pattern"
	badWildcards = "wildcards are either regular `*` or recursive `**`"
	badRecursive = "recursive wildcards must form a single path component"
	tooMany      = "too many alternatives"
	tooLong      = "pattern is too long"
)

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	alternatives [][]token
}

// Compile reads a pattern. The error is an *Error.
func Compile(s string) (*Pattern, error) {
	texts, err := expand(s)
	if err != nil {
		return nil, err
	}
	p := &Pattern{}
	for _, text := range texts {
		tokens, err := parse(text)
		if err != nil {
			err.Pattern = s
			return nil, err
		}
		p.alternatives = append(p.alternatives, tokens)
	}
	return p, nil
}

// Match reports whether the pattern matches the whole path.
func (p *Pattern) Match(path string) bool {
	for _, tokens := range p.alternatives {
		if match(tokens, path) {
			return true
		}
	}
	return false
}

// MatchTree reports whether the pattern matches everything below a directory,
// or the directory itself: then it need not be entered.
func (p *Pattern) MatchTree(dir string) bool {
	for _, tokens := range p.alternatives {
		if match(tokens, dir) {
			return true
		}
		if n := len(tokens); n > 0 && (tokens[n-1].kind == anyText || tokens[n-1].kind == anyParts) && match(tokens, dir+"/") {
			return true
		}
	}
	return false
}

// Set is a list of patterns, any of which may match.
type Set []*Pattern

// CompileSet reads patterns. The error is the *Error of the first bad one.
func CompileSet(patterns []string) (Set, error) {
	set := make(Set, 0, len(patterns))
	for _, s := range patterns {
		p, err := Compile(s)
		if err != nil {
			return nil, err
		}
		set = append(set, p)
	}
	return set, nil
}

// Match reports whether any pattern matches the path.
func (s Set) Match(path string) bool {
	for _, p := range s {
		if p.Match(path) {
			return true
		}
	}
	return false
}

// MatchTree reports whether any pattern matches all of a directory.
func (s Set) MatchTree(dir string) bool {
	for _, p := range s {
		if p.MatchTree(dir) {
			return true
		}
	}
	return false
}

// match walks the path once and goes back only to the last wildcard: whatever an
// earlier one could have taken, the last one can take as well.
func match(tokens []token, path string) bool {
	ti, pi := 0, 0
	backT, backP := -1, 0 // the last wildcard, and where it goes on from
	for {
		if ti < len(tokens) && tokens[ti].wild() {
			if ti == len(tokens)-1 {
				return true
			}
			backT, backP = ti, pi
			ti++
			continue
		}
		if pi == len(path) {
			return ti == len(tokens)
		}
		if ti < len(tokens) {
			if r, w := utf8.DecodeRuneInString(path[pi:]); tokens[ti].takes(r) {
				ti, pi = ti+1, pi+w
				continue
			}
		}
		if backT < 0 {
			return false
		}
		if backP = tokens[backT].next(path, backP); backP < 0 {
			return false
		}
		ti, pi = backT+1, backP
	}
}

// next returns the place behind what a wildcard takes when it takes one step
// more from place; -1 when there is none.
func (t *token) next(path string, place int) int {
	if place >= len(path) {
		return -1
	}
	if t.kind == anyParts {
		i := strings.IndexByte(path[place:], '/')
		if i < 0 {
			return -1
		}
		return place + i + 1
	}
	_, w := utf8.DecodeRuneInString(path[place:])
	return place + w
}
