package query

import (
	"fmt"
	"regexp"
	"strings"
)

// ChunkFields are the fields of an index of chunks, and how it cuts texts.
type ChunkFields struct {
	Content  int // the words
	Parts    int // the parts of identifiers
	MaxToken int // bytes from which a word is not indexed; it keeps its position
	Words    func(text string) []string
}

// partsWeight is the weight of a word that is only a part of an identifier: low,
// so that whole identifiers rank first.
const partsWeight = 0.1

// Limits of the query language.
const (
	maxLanguageBytes = 4096
	maxGroups        = 40 // parentheses within parentheses
)

// A SyntaxError says what is wrong with a query, and where.
type SyntaxError struct {
	What string
	At   int // the character, from 1
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("Syntax Error: %s at character %d", e.What, e.At)
}

// A FieldError names a field that there is not.
type FieldError struct{ Field, Value string }

func (e *FieldError) Error() string {
	hint := ""
	if s := fieldHints[strings.ToLower(e.Field)]; s != "" {
		hint = fmt.Sprintf("Hint: Did you mean '%s'?\n", s)
	}
	return fmt.Sprintf("Invalid query: Unknown field '%s'.\nValid fields: content, file_path\n%s"+
		"Details: Use 'file_path:%s' for path matching, or search content directly.", e.Field, hint, e.Value)
}

const (
	fieldContent = "content"
	fieldPath    = "file_path"
)

var fieldHints = map[string]string{
	"file": fieldPath, "filename": fieldPath, "path": fieldPath, "filepath": fieldPath, "name": fieldPath,
	"code": fieldContent, "text": fieldContent, "body": fieldContent, "source": fieldContent, "src": fieldContent,
}

var (
	fieldPrefix = regexp.MustCompile(`^([\pL\pM\pN_]+):([^\s:]\S*)`)
	urlSchemes  = map[string]bool{"http": true, "https": true, "ftp": true, "mailto": true}
	routeQuery  = regexp.MustCompile(`^/[a-zA-Z0-9_/{}\-]+$`)
	scopedQuery = regexp.MustCompile(`^\w+:\w+:\w+\S*$`)
	braces      = strings.NewReplacer("{", `\{`, "}", `\}`)
)

// CheckFields returns a FieldError for the first word of a query that begins
// with a field other than content and file_path. Words in quotes, those of two
// colons or more and addresses such as http://x name no field.
func CheckFields(text string) error {
	text = strings.TrimSpace(text)
	if isQuoted(text) {
		return nil
	}
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && (i == 0 || isSpace(text[i-1])):
			m := fieldPrefix.FindStringSubmatch(text[i:])
			if m == nil || m[1] == fieldContent || m[1] == fieldPath || urlSchemes[m[1]] || strings.Contains(m[2], ":") {
				continue
			}
			return &FieldError{m[1], m[2]}
		}
	}
	return nil
}

func isQuoted(text string) bool {
	return len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"'
}

// Preprocess puts a query into the form that the parser reads: a route or a
// scoped name becomes a phrase, and braces are escaped.
func Preprocess(text string) string {
	text = strings.TrimSpace(text)
	if !isQuoted(text) && (routeQuery.MatchString(text) || scopedQuery.MatchString(text) && !hasField(text)) &&
		!strings.Contains(text, `"`) {
		text = `"` + text + `"`
	}
	return braces.Replace(text)
}

func hasField(text string) bool {
	return strings.HasPrefix(text, fieldContent+":") || strings.HasPrefix(text, fieldPath+":")
}

// ParseChunks parses the query language of the session tools. The error is a
// SyntaxError; call CheckFields first.
//
// Words are joined by OR; AND binds tighter; NOT, - and + tighter still, and an
// operator needs a blank after it. NOT takes away from what it is joined with,
// and stands for every other chunk where there is nothing to take from. A word
// of several tokens is a phrase, and so is what stands in quotes. A single word
// also matches as a part of an identifier, but not where all tokens count: in
// phrases, with AND, NOT, + and -. file_path: matches paths that contain its
// value. A word without letters and digits matches nothing.
func ParseChunks(text string, f ChunkFields) (Query, error) {
	p := &parser{text: Preprocess(text), fields: f}
	if len(p.text) > maxLanguageBytes {
		return nil, p.fault("query is too long", maxLanguageBytes)
	}
	n, err := p.group(fieldContent)
	if err != nil {
		return nil, err
	}
	if p.at < len(p.text) {
		return nil, p.fault("unbalanced parenthesis", p.at)
	}
	return f.compile(n, true), nil
}

// A node is a parsed piece of a query.
type node interface{}

type (
	wordNode struct {
		words   []string
		isPlain bool // one word and nothing else: matches parts too
		prefix  bool
		weight  float64
	}
	pathNode  string
	everyNode struct{}

	// A groupNode holds clauses that are joined by OR.
	groupNode struct{ should, must, not []node }

	// An andNode holds clauses that are joined by AND.
	andNode struct{ must, not []node }
)

// simple returns the group without what only says how it was written: a group
// around one clause, and a NOT that must hold beside something else.
func (g groupNode) simple() node {
	if len(g.should) == 1 && len(g.must)+len(g.not) == 0 {
		return g.should[0]
	}
	var must, not []node
	for _, n := range g.must {
		if taken := takenAway(n); taken != nil {
			not = append(not, taken...)
		} else {
			must = append(must, n)
		}
	}
	if len(must) > 0 {
		g.must, g.not = must, append(g.not, not...)
	}
	return g
}

// takenAway returns what a node excludes that does nothing else, or nil.
func takenAway(n node) []node {
	switch n := n.(type) {
	case groupNode:
		if len(n.should)+len(n.must) == 0 {
			return n.not
		}
	case andNode:
		if len(n.must) == 0 {
			return n.not
		}
	}
	return nil
}

// compile makes the tree of a node. parts is whether single words match parts
// of identifiers.
func (f ChunkFields) compile(n node, parts bool) Query {
	switch n := n.(type) {
	case wordNode:
		return f.word(n, parts)
	case pathNode:
		if n == "" {
			return Or{}
		}
		return Const{PathMatch(n), 1}
	case everyNode:
		return Const{All{}, 1}
	case andNode:
		return subtract(And(f.compileAll(n.must, false)), f.compileAll(n.not, false))
	case groupNode:
		should := Or(f.compileAll(n.should, parts))
		if len(n.must) == 0 {
			return subtract(should, f.compileAll(n.not, false))
		}
		must := And(f.compileAll(n.must, false))
		if len(should) > 0 {
			must = append(must, append(should, All{}))
		}
		return subtract(must, f.compileAll(n.not, false))
	}
	return Or{}
}

func (f ChunkFields) compileAll(nodes []node, parts bool) []Query {
	var qs []Query
	for _, n := range nodes {
		qs = append(qs, f.compile(n, parts))
	}
	return qs
}

// subtract returns what matches q and none of not. q is an And or an Or; one
// without members stands for everything, with a score of one.
func subtract(q Query, not []Query) Query {
	n := 0
	single := q
	switch q := q.(type) {
	case And:
		if n = len(q); n == 1 {
			single = q[0]
		}
	case Or:
		if n = len(q); n == 1 {
			single = q[0]
		}
	}
	switch {
	case len(not) == 0:
		return single
	case n == 0:
		return Const{Not{All{}, Or(not)}, 1}
	}
	return Not{single, Or(not)}
}

func (f ChunkFields) word(n wordNode, parts bool) Query {
	switch {
	case len(n.words) == 0:
		return Or{}
	case len(n.words) > 1:
		return Phrase{Field: f.Content, Words: n.words, Weight: n.weight}
	case n.words[0] == "":
		return Or{} // a token that is too long to be indexed
	case n.prefix:
		return Prefix{Field: f.Content, Text: n.words[0], Weight: n.weight}
	}
	whole := Term{Field: f.Content, Text: n.words[0], Weight: n.weight}
	if !parts || !n.isPlain {
		return whole
	}
	weight := partsWeight
	if n.weight != 0 {
		weight *= n.weight
	}
	return Or{whole, Term{Field: f.Parts, Text: n.words[0], Weight: weight}}
}
