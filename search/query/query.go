// Package query holds the query tree that search engines evaluate, and the
// parsers that make it from what people type.
//
// A tree is plain data: build it with composite literals and do not change it
// while a search is running. Field and attribute numbers are positions in the
// schema of the index that is searched.
package query

import (
	"fmt"
	"strconv"
	"strings"
)

// A Query is a node of a query tree. The score of a document is the sum over
// the scoring nodes that match it: Term, Phrase, Prefix and Const. The node
// types of this package are the only implementations.
type Query interface {
	// String renders the tree on one line, for logs and test failures.
	String() string
	node()
}

type (
	// Term matches documents that have a term in a field. Text must be
	// normalized as the field's terms are. Weight multiplies the score;
	// zero means one, and negative weights are refused.
	Term struct {
		Field  int
		Text   string
		Weight float64
	}

	// Phrase matches documents that have the words at consecutive positions
	// of a field. An empty word stands for one position with any token, or
	// with none that was indexed. The number of occurrences is its term
	// frequency and the sum of the words' idf its idf.
	Phrase struct {
		Field  int
		Words  []string
		Weight float64
	}

	// Prefix matches documents that have a term with the prefix, scored as
	// if all those terms were one.
	Prefix struct {
		Field  int
		Text   string
		Weight float64
	}

	// And matches documents that match every member. An empty And matches
	// nothing.
	And []Query

	// Or matches documents that match at least one member. An empty Or
	// matches nothing.
	Or []Query

	// Not matches documents that match Q and do not match Except. Use All
	// as Q for everything but Except.
	Not struct{ Q, Except Query }

	// Const matches what Q matches, with Score instead of the score of Q.
	Const struct {
		Q     Query
		Score float64
	}

	// All matches every document, with score zero.
	All struct{}

	// Keyword matches documents whose keyword field is exactly Text, with
	// score zero.
	Keyword struct {
		Field int
		Text  string
	}

	// Attr matches documents whose attribute is at least Min and at most
	// Max, with score zero.
	Attr struct {
		Attr     int
		Min, Max uint32
	}

	// PathWord matches the documents of files that have the word, in lower
	// case, in their path, whole or as a part of an identifier, with score
	// zero.
	PathWord string

	// PathMatch matches the documents of files whose path contains the text
	// without regard to case, with score zero.
	PathMatch string

	// PathFunc matches the documents of files whose path Accept accepts,
	// with score zero. Accept may be called from several goroutines and
	// should give the same answer for the same path. Name is for String.
	PathFunc struct {
		Name   string
		Accept func(path string) bool
	}
)

func (Term) node()      {}
func (Phrase) node()    {}
func (Prefix) node()    {}
func (And) node()       {}
func (Or) node()        {}
func (Not) node()       {}
func (Const) node()     {}
func (All) node()       {}
func (Keyword) node()   {}
func (Attr) node()      {}
func (PathWord) node()  {}
func (PathMatch) node() {}
func (PathFunc) node()  {}

func (q Term) String() string { return leaf(q.Field, quote(q.Text), q.Weight) }

func (q Phrase) String() string {
	words := make([]string, len(q.Words))
	for i, w := range q.Words {
		if words[i] = w; w == "" {
			words[i] = "?"
		}
	}
	return leaf(q.Field, strconv.Quote(strings.Join(words, " ")), q.Weight)
}

func (q Prefix) String() string { return leaf(q.Field, quote(q.Text)+"*", q.Weight) }

func (q And) String() string { return list(q, " AND ") }
func (q Or) String() string  { return list(q, " OR ") }

func (q Not) String() string { return "(" + str(q.Q) + " NOT " + str(q.Except) + ")" }

func (q Const) String() string {
	return fmt.Sprintf("const(%s, %s)", str(q.Q), strconv.FormatFloat(q.Score, 'g', -1, 64))
}

func (All) String() string         { return "all" }
func (q Keyword) String() string   { return fmt.Sprintf("%d=%s", q.Field, quote(q.Text)) }
func (q Attr) String() string      { return fmt.Sprintf("attr%d[%d..%d]", q.Attr, q.Min, q.Max) }
func (q PathWord) String() string  { return "path:" + quote(string(q)) }
func (q PathMatch) String() string { return "path~" + strconv.Quote(string(q)) }
func (q PathFunc) String() string  { return "path:func(" + q.Name + ")" }

// leaf renders a scoring leaf as field:text^weight.
func leaf(field int, text string, weight float64) string {
	s := strconv.Itoa(field) + ":" + text
	if weight != 0 && weight != 1 {
		s += "^" + strconv.FormatFloat(weight, 'g', -1, 64)
	}
	return s
}

// quote quotes a term only when it would not read as one.
func quote(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"()*^:\\") {
		return strconv.Quote(s)
	}
	return s
}

func list(qs []Query, sep string) string {
	parts := make([]string, len(qs))
	for i, q := range qs {
		parts[i] = str(q)
	}
	return "(" + strings.Join(parts, sep) + ")"
}

func str(q Query) string {
	if q == nil {
		return "nil"
	}
	return q.String()
}
