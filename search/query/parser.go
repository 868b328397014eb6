package query

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A parser reads a query of the session tools from left to right.
type parser struct {
	text   string
	at     int
	depth  int // open parentheses
	fields ChunkFields
}

func (p *parser) fault(what string, at int) error {
	return &SyntaxError{What: what, At: utf8.RuneCountInString(p.text[:min(at, len(p.text))]) + 1}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// space skips white space.
func (p *parser) space() {
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += n
	}
}

// operator takes an operator, which needs a blank or the end after it.
func (p *parser) operator(names ...string) string {
	for _, name := range names {
		rest, ok := strings.CutPrefix(p.text[p.at:], name)
		if !ok {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(rest); rest == "" || unicode.IsSpace(r) {
			p.at += len(name)
			return name
		}
	}
	return ""
}

// ends reports whether a group ends here.
func (p *parser) ends() bool { return p.at == len(p.text) || p.text[p.at] == ')' }

// group reads clauses up to a closing parenthesis or the end.
func (p *parser) group(field string) (node, error) {
	var g groupNode
	joined := "" // how the next clause is joined to the one before
	for first := true; ; first = false {
		p.space()
		if p.ends() {
			if joined != "" || first {
				return nil, p.missing(joined)
			}
			return g.simple(), nil
		}
		at := p.at
		if first && p.operator("AND", "OR") != "" {
			return nil, p.fault("operator without a left side", at)
		}
		n, sign, err := p.conjunction(field)
		if err != nil {
			return nil, err
		}
		p.space()
		before := joined
		joined = p.operator("OR")
		switch {
		case sign == signNot && (before == "OR" || first && joined == "OR"):
			g.should = append(g.should, groupNode{not: []node{n}})
		case sign == signNot:
			g.not = append(g.not, n)
		case sign == signMust:
			g.must = append(g.must, n)
		default:
			g.should = append(g.should, n)
		}
	}
}

func (p *parser) missing(operator string) error {
	if operator != "" {
		return p.fault("operator without a right side", p.at)
	}
	if p.depth > 0 {
		return p.fault("empty parentheses", p.at)
	}
	return p.fault("nothing to search for", p.at)
}

// A sign says what a clause does to the list that it is in.
type sign int

const (
	signShould sign = iota
	signMust
	signNot
)

// conjunction reads clauses that are joined by AND.
func (p *parser) conjunction(field string) (node, sign, error) {
	var a andNode
	for first := true; ; first = false {
		n, s, err := p.clause(field)
		if err != nil {
			return nil, 0, err
		}
		p.space()
		hasMore := p.operator("AND") != ""
		if first && !hasMore {
			return n, s, nil
		}
		switch taken := takenAway(n); {
		case s == signNot:
			a.not = append(a.not, n)
		case taken != nil:
			a.not = append(a.not, taken...)
		default:
			a.must = append(a.must, n)
		}
		if !hasMore {
			return a, signShould, nil
		}
		p.space()
	}
}

// clause reads signs and what they are for. NOT NOT x takes away all that is
// without x.
func (p *parser) clause(field string) (node, sign, error) {
	nots := 0
	for {
		if p.ends() {
			return nil, 0, p.fault("operator without a right side", p.at)
		}
		at := p.at
		switch {
		case p.operator("NOT") != "":
			nots++
			p.space()
			continue
		case p.operator("AND", "OR") != "":
			return nil, 0, p.fault("operator without a left side", at)
		}
		s := signShould
		switch {
		case p.signed('-'):
			nots++
		case p.signed('+'):
			s = signMust
		}
		n, err := p.primary(field)
		if nots == 0 || err != nil {
			return n, s, err
		}
		if nots%2 == 0 {
			n = groupNode{not: []node{n}}
		}
		return n, signNot, nil
	}
}

// signed takes a sign that stands right before a word, phrase or group.
func (p *parser) signed(c byte) bool {
	if p.text[p.at] != c || p.at+1 == len(p.text) {
		return false
	}
	if next := p.text[p.at+1]; isSpace(next) || next == '-' || next == '+' || next == ')' {
		return false
	}
	p.at++
	return true
}

// primary reads a group, a phrase or a word.
func (p *parser) primary(field string) (node, error) {
	for _, f := range []string{fieldContent, fieldPath} {
		rest, ok := strings.CutPrefix(p.text[p.at:], f+":")
		if ok && rest != "" && !isSpace(rest[0]) && rest[0] != ':' && rest[0] != ')' {
			p.at += len(f) + 1
			field = f
			break
		}
	}
	switch c := p.text[p.at]; c {
	case '(':
		return p.parentheses(field)
	case '"', '\'':
		if end := p.closing(p.at, c); end >= 0 {
			text := p.text[p.at+1 : end]
			p.at = end + 1
			return p.phrase(field, text), nil
		}
		if c == '"' {
			return nil, p.fault("unbalanced quote", p.at)
		}
	}
	return p.word(field)
}

func (p *parser) parentheses(field string) (node, error) {
	at := p.at
	if p.depth++; p.depth > maxGroups {
		return nil, p.fault("more than "+strconv.Itoa(maxGroups)+" nested parentheses", at)
	}
	p.at++
	n, err := p.group(field)
	if err != nil {
		return nil, err
	}
	if p.at == len(p.text) {
		return nil, p.fault("unbalanced parenthesis", at)
	}
	p.at++
	p.depth--
	return n, nil
}

// closing returns where the quote that opens at i is closed, -1 for nowhere.
func (p *parser) closing(i int, quote byte) int {
	for i++; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return -1
}

// unescape takes the backslashes away that escape something.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`"'\{}()`, text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// phrase makes the node of a quoted text; a weight may follow it.
func (p *parser) phrase(field, text string) node {
	if field == fieldPath {
		return pathNode(unescape(text))
	}
	return wordNode{words: p.words(text), weight: p.boost()}
}

// boost takes a weight such as ^2 that follows a phrase.
func (p *parser) boost() float64 {
	rest, ok := strings.CutPrefix(p.text[p.at:], "^")
	if !ok {
		return 0
	}
	n := 0
	for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.') {
		n++
	}
	w := weight(rest[:n])
	if w != 0 {
		p.at += 1 + n
	}
	return w
}

// weight returns the weight that a text gives, zero when it gives none.
func weight(text string) float64 {
	if w, err := strconv.ParseFloat(text, 64); err == nil && w > 0 && w <= 1000 && len(text) < 8 {
		return w
	}
	return 0
}

// words cuts a text into terms; those that are not indexed are empty.
func (p *parser) words(text string) []string {
	words := p.fields.Words(text)
	for i, w := range words {
		if p.fields.MaxToken > 0 && len(w) >= p.fields.MaxToken {
			words[i] = ""
		}
	}
	return words
}

// word reads up to white space or to the parenthesis that closes the group.
// Parentheses and quotes inside the word are part of it, with what they hold.
func (p *parser) word(field string) (node, error) {
	from := p.at
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if unicode.IsSpace(r) || r == ')' {
			break
		}
		end := p.at + n
		switch r {
		case '\\':
			_, next := utf8.DecodeRuneInString(p.text[end:])
			if end+next <= len(p.text) && next > 0 && !isSpace(p.text[end]) {
				end += next
			}
		case '"':
			if end = p.closing(p.at, '"') + 1; end == 0 {
				return nil, p.fault("unbalanced quote", p.at)
			}
		case '(':
			if end = p.inner(p.at) + 1; end == 0 {
				return nil, p.fault("unbalanced parenthesis", p.at)
			}
		}
		p.at = end
	}
	return p.wordNode(field, p.text[from:p.at]), nil
}

// inner returns where the parenthesis that opens at i is closed, -1 for nowhere.
func (p *parser) inner(i int) int {
	depth := 0
	for ; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			if end := p.closing(i, '"'); end >= 0 {
				i = end
			}
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func (p *parser) wordNode(field, text string) node {
	if field == fieldPath {
		return pathNode(unescape(text))
	}
	if text == "*" {
		return everyNode{}
	}
	n := wordNode{}
	if word, w, ok := strings.Cut(text, "^"); ok && weight(w) != 0 {
		text, n.weight = word, weight(w)
	}
	if word, ok := strings.CutSuffix(text, "*"); ok && isPlain(word) {
		text, n.prefix = word, true
	}
	n.words = p.words(text)
	n.isPlain = len(n.words) == 1 && isPlain(strings.TrimRight(text, ".,;:?!"))
	return n
}

// isPlain reports whether a word has nothing but letters, digits and
// underscores in it.
func isPlain(word string) bool {
	for _, r := range word {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return word != ""
}
