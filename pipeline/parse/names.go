package parse

import (
	"strings"
	"unicode/utf8"
)

// cleanName makes a node's text a name: one line, without quotes. It returns
// "" for what can't be one.
func cleanName(s string, imported bool) string {
	s = strings.TrimPrefix(s, "\uFEFF")
	if len(s) > maxName {
		return ""
	}
	s = strings.Join(strings.Fields(s), " ")
	for len(s) >= 2 && strings.IndexByte("\"'`", s[0]) >= 0 && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	if imported && len(s) >= 2 && s[0] == '<' && s[len(s)-1] == '>' { // C's #include
		s = s[1 : len(s)-1]
	}
	return valid(s)
}

// splitName takes a qualified name apart: Outer::Inner<T>::f gives the owner
// Outer.Inner and the name f. Separators are ::, . and : outside of brackets.
// The owner is empty when it is more than names: a call, an index.
func splitName(s string) (owner, name string) {
	head, operator := s, ""
	if i := strings.Index(s, "operator"); i >= 0 && (i == 0 || s[i-1] == ':' || s[i-1] == ' ') {
		head, operator = s[:i], s[i:]
		if end := strings.IndexByte(operator[len("operator"):], '('); end > 0 { // operator bool() const
			operator = strings.TrimSpace(operator[:len("operator")+end])
		}
	}
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(head); i++ {
		switch head[i] {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			depth = max(depth-1, 0)
		case ':', '.':
			if depth == 0 {
				parts = append(parts, head[from:i])
				from = i + 1
			}
		}
	}
	parts = append(parts, head[from:]+operator)
	name = strings.TrimSpace(parts[len(parts)-1])
	if i := strings.IndexByte(name, '<'); i > 0 && operator == "" { // a template's specialisation
		name = name[:i]
	}
	var owners []string
	for _, p := range parts[:len(parts)-1] {
		p, _, _ = strings.Cut(strings.TrimSpace(p), "<")
		switch {
		case p == "" || p == "module" || p == "exports" || p == "this" || p == "self" || p == "prototype" || p == "window":
		case !isName(p):
			owners = nil
		default:
			owners = append(owners, p)
		}
	}
	return strings.Join(owners, "."), name
}

// isName reports whether s is made of letters, digits, _ and $ only.
func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter, digit := c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9'
		if c < utf8.RuneSelf && c != '_' && c != '$' && !letter && !digit {
			return false
		}
	}
	return s != ""
}

// typeOf returns the type of node i.
func (x *extractor) typeOf(i int32) string {
	sym := x.nodes[i].symbol
	if int(sym) >= len(x.l.names) {
		return "ERROR"
	}
	return x.l.names[sym]
}
