package pattern

import (
	"slices"
	"strings"
)

// token is one element of a pattern.
type token struct {
	kind   kind
	char   rune
	ranges [][2]rune // of a set
}

type kind uint8

const (
	literal  kind = iota
	anyChar       // ?
	anyText       // *
	anyParts      // ** and the slash behind it
	within        // [abc]
	except        // [!abc]
)

func (t *token) wild() bool { return t.kind == anyText || t.kind == anyParts }

// takes reports whether a token that stands for one character takes r.
func (t *token) takes(r rune) bool {
	switch t.kind {
	case literal:
		return t.char == r
	case anyChar:
		return true
	}
	in := slices.ContainsFunc(t.ranges, func(x [2]rune) bool { return x[0] <= r && r <= x[1] })
	return in == (t.kind == within)
}

// parse reads a pattern without alternatives.
func parse(s string) ([]token, *Error) {
	var tokens []token
	chars := []rune(s)
	for i := 0; i < len(chars); {
		switch c := chars[i]; c {
		case '?':
			tokens = append(tokens, token{kind: anyChar})
			i++
		case '*':
			t, end, err := parseStars(chars, i)
			if err != nil {
				return nil, err
			}
			i = end
			if n := len(tokens); t.kind != anyParts || n == 0 || tokens[n-1].kind != anyParts {
				tokens = append(tokens, t)
			}
		case '[':
			end := setEnd(chars, i)
			if end < 0 {
				return nil, &Error{Pos: i, Reason: badRange}
			}
			tokens = append(tokens, parseSet(chars[i+1:end-1]))
			i = end
		default:
			tokens = append(tokens, token{kind: literal, char: c})
			i++
		}
	}
	return tokens, nil
}

// parseStars reads the run of stars at i.
func parseStars(chars []rune, i int) (t token, end int, err *Error) {
	for end = i; end < len(chars) && chars[end] == '*'; end++ {
	}
	switch {
	case end-i == 1:
		return token{kind: anyText}, end, nil
	case end-i > 2:
		return t, 0, &Error{Pos: i + 2, Reason: badWildcards}
	case i > 0 && chars[i-1] != '/':
		return t, 0, &Error{Pos: i - 1, Reason: badRecursive}
	case end < len(chars) && chars[end] != '/':
		return t, 0, &Error{Pos: end, Reason: badRecursive}
	case end < len(chars):
		end++
	}
	return token{kind: anyParts}, end, nil
}

// setEnd returns the place behind the set that opens at i, or -1. The first
// character of a set may be its closing bracket.
func setEnd(chars []rune, i int) int {
	first := i + 1
	if first < len(chars) && chars[first] == '!' {
		first++
	}
	for j := first + 1; j < len(chars); j++ {
		if chars[j] == ']' {
			return j + 1
		}
	}
	return -1
}

// parseSet reads what stands between the brackets.
func parseSet(chars []rune) token {
	t := token{kind: within}
	if len(chars) > 1 && chars[0] == '!' {
		t.kind = except
		chars = chars[1:]
	}
	for i := 0; i < len(chars); i++ {
		from, to := chars[i], chars[i]
		if i+2 < len(chars) && chars[i+1] == '-' {
			to = chars[i+2]
			i += 2
		}
		t.ranges = append(t.ranges, [2]rune{from, to})
	}
	return t
}

// expand returns the pattern once for each choice of its alternatives.
func expand(s string) ([]string, *Error) {
	chars := []rune(s)
	if len(chars) > maxLength {
		return nil, &Error{Pattern: s, Pos: maxLength, Reason: tooLong}
	}
	if !balanced(chars) {
		return []string{s}, nil
	}
	out, ok := alternatives(chars)
	if !ok {
		return nil, &Error{Pattern: s, Pos: strings.IndexByte(s, '{'), Reason: tooMany}
	}
	return out, nil
}

// balanced reports whether every brace outside a set has its partner.
func balanced(chars []rune) bool {
	depth := 0
	for i := 0; i < len(chars); i++ {
		switch chars[i] {
		case '[':
			if end := setEnd(chars, i); end > 0 {
				i = end - 1
			}
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// alternatives expands balanced braces. ok is false when there are too many.
func alternatives(chars []rune) (out []string, ok bool) {
	out = []string{""}
	plain := 0 // start of what stands between two groups
	for i := 0; i < len(chars); i++ {
		switch chars[i] {
		case '[':
			if end := setEnd(chars, i); end > 0 {
				i = end - 1
			}
		case '{':
			out = product(out, []string{string(chars[plain:i])})
			parts, end := group(chars, i)
			choices := []string{}
			for _, part := range parts {
				sub, ok := alternatives(part)
				if !ok {
					return nil, false
				}
				choices = append(choices, sub...)
			}
			if len(parts) == 1 {
				for j, c := range choices {
					choices[j] = "{" + c + "}"
				}
			}
			if len(out)*len(choices) > maxAlternatives {
				return nil, false
			}
			out = product(out, choices)
			i, plain = end, end+1
		}
	}
	return product(out, []string{string(chars[plain:])}), true
}

// group splits the braces that open at i at their own commas. end is the
// closing brace.
func group(chars []rune, i int) (parts [][]rune, end int) {
	depth, from := 0, i+1
	for j := i; ; j++ {
		switch chars[j] {
		case '[':
			if end := setEnd(chars, j); end > 0 {
				j = end - 1
			}
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, chars[from:j])
				from = j + 1
			}
		case '}':
			if depth--; depth == 0 {
				return append(parts, chars[from:j]), j
			}
		}
	}
}

// product appends each of the endings to each of the beginnings.
func product(beginnings, endings []string) []string {
	out := make([]string, 0, len(beginnings)*len(endings))
	for _, b := range beginnings {
		for _, e := range endings {
			out = append(out, b+e)
		}
	}
	return out
}
