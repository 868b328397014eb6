package algoliatest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A filter is a parsed filter expression in the form that Algolia allows: groups
// joined by AND, each of them one or more terms joined by OR.
type filter [][]term

// A term compares one attribute with a value (op is ":"), a number or a range
// (op is "TO").
type term struct {
	isNot     bool
	attribute string
	op        string
	value     string
	low, high float64
}

func (t term) isNumeric() bool { return t.op != ":" }

// parseFilter parses the grammar of the filters parameter. What Algolia refuses
// is refused: AND within OR, NOT before a group, and OR between filters of
// different kinds.
func parseFilter(text string) (filter, error) {
	tokens, err := lex(text)
	if err != nil || len(tokens) == 0 {
		return nil, err
	}
	p := &parser{tokens: tokens}
	var f filter
	for {
		group, err := p.group()
		if err != nil {
			return nil, err
		}
		f = append(f, group)
		if p.done() {
			return f, nil
		}
		if !p.keyword("AND") {
			return nil, fmt.Errorf("filters: Unexpected token %q expected end of filter", p.peek().text)
		}
	}
}

// A token is a word, an operator or a quoted value.
type token struct {
	text     string
	isQuoted bool
}

func lex(text string) (tokens []token, err error) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ':
			i++
		case c == '"' || c == '\'':
			value, n, err := unquote(text[i:])
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, token{value, true})
			i += n
		case strings.IndexByte("<>=!", c) >= 0:
			n := 1
			if i+1 < len(text) && text[i+1] == '=' {
				n = 2
			}
			tokens = append(tokens, token{text[i : i+n], false})
			i += n
		case strings.IndexByte("():", c) >= 0:
			tokens = append(tokens, token{text[i : i+1], false})
			i++
		default:
			n := strings.IndexAny(text[i:], " \"'<>=!():")
			if n < 0 {
				n = len(text) - i
			}
			tokens = append(tokens, token{text[i : i+n], false})
			i += n
		}
	}
	return tokens, nil
}

// unquote reads a value up to the quote that it began with. A backslash takes
// the character behind it as it is.
func unquote(text string) (value string, n int, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case text[i] == text[0]:
			return b.String(), i + 1, nil
		default:
			b.WriteByte(text[i])
		}
	}
	return "", 0, fmt.Errorf("filters: unterminated quote in %q", text)
}

type parser struct {
	tokens []token
	at     int
}

func (p *parser) done() bool { return p.at == len(p.tokens) }

func (p *parser) peek() token {
	if p.done() {
		return token{}
	}
	return p.tokens[p.at]
}

// keyword takes the next token when it is this word, unquoted.
func (p *parser) keyword(word string) bool {
	if t := p.peek(); p.done() || t.isQuoted || t.text != word {
		return false
	}
	p.at++
	return true
}

// group parses terms joined by OR, in parentheses or without.
func (p *parser) group() (group []term, err error) {
	isOpen := p.keyword("(")
	for {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		group = append(group, t)
		if group[0].isNumeric() != t.isNumeric() {
			return nil, errors.New("filters: Different types are not allowed in the same OR")
		}
		if !p.keyword("OR") {
			break
		}
	}
	if isOpen && !p.keyword(")") {
		return nil, fmt.Errorf("filters: Unexpected token %q expected OR or )", p.peek().text)
	}
	return group, nil
}

func (p *parser) term() (t term, err error) {
	t.isNot = p.keyword("NOT")
	name := p.peek()
	if p.done() || !name.isQuoted && strings.ContainsAny(name.text, "():<>=!") || !name.isQuoted && isKeyword(name.text) {
		return t, fmt.Errorf("filters: Unexpected token %q expected attribute", name.text)
	}
	p.at++
	t.attribute = name.text
	if p.keyword(":") {
		return p.valueOf(t)
	}
	op := p.peek()
	switch op.text {
	case "=", "!=", "<", "<=", ">", ">=":
	default:
		return t, fmt.Errorf("filters: Unexpected token %q after %q", op.text, t.attribute)
	}
	p.at++
	t.op = op.text
	t.low, err = p.number()
	return t, err
}

// valueOf parses what stands behind the colon: a value or a range.
func (p *parser) valueOf(t term) (term, error) {
	v := p.peek()
	if p.done() || !v.isQuoted && (strings.ContainsAny(v.text, "():<>=!") || isKeyword(v.text)) {
		return t, fmt.Errorf("filters: Unexpected token %q expected value of %q", v.text, t.attribute)
	}
	if p.at+1 < len(p.tokens) && p.tokens[p.at+1] == (token{"TO", false}) {
		var err error
		if t.low, err = p.number(); err != nil {
			return t, err
		}
		p.at++
		t.op = "TO"
		t.high, err = p.number()
		return t, err
	}
	p.at++
	t.op, t.value = ":", v.text
	return t, nil
}

func isKeyword(s string) bool { return s == "AND" || s == "OR" || s == "NOT" || s == "TO" }

// maxFilterNumber is the largest number that Algolia compares.
const maxFilterNumber = 4611686018427387

func (p *parser) number() (float64, error) {
	t := p.peek()
	n, err := strconv.ParseFloat(t.text, 64)
	if err != nil || t.isQuoted || n > maxFilterNumber || n < -maxFilterNumber {
		return 0, fmt.Errorf("filters: %q is not a number that can be compared", t.text)
	}
	p.at++
	return n, nil
}

// matches reports whether a record passes.
func (f filter) matches(r record) bool {
	for _, group := range f {
		ok := false
		for _, t := range group {
			ok = ok || t.matches(r) != t.isNot
		}
		if !ok {
			return false
		}
	}
	return true
}

// matches compares facet values without regard to case, as Algolia does.
func (t term) matches(r record) bool {
	v, ok := r[t.attribute]
	if !ok {
		return false
	}
	if !t.isNumeric() {
		return strings.EqualFold(facetValue(v), t.value)
	}
	n, ok := v.(float64)
	if !ok {
		return false
	}
	switch t.op {
	case "TO":
		return t.low <= n && n <= t.high
	case "=":
		return n == t.low
	case "!=":
		return n != t.low
	case "<":
		return n < t.low
	case "<=":
		return n <= t.low
	case ">":
		return n > t.low
	}
	return n >= t.low
}

// facetValue is a value as facets have it.
func facetValue(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
