// Package parse finds the entities of source files, and their comments and
// string literals. Grammars are foreign C code: some inputs crash them and some
// keep them busy for minutes. So they run in child processes of the same
// program, one file at a time, and a child that dies or is late costs one file.
//
// The parent's side is Pool, the child's side is Worker. What a language's
// definitions look like stands in the specs_*.go files, one table a language.
// Markdown needs no grammar and is read in the parent.
//
// Spans cover comments and the literal text of strings with its quotes. Code
// inside a string (a template's ${x}, Python's f"{x}") is not part of the span:
// what stands there is a use of a name. A docstring is a string, a regular
// expression literal too.
//
// Names are qualified by the definitions around them, joined with dots in every
// language; packages, and the namespaces of C# and PHP, do not qualify.
//
// This package is the only one that uses cgo for parsing.
package parse

import (
	"path"
	"strings"

	"codesage"
)

// Version is the number of the parser. It grows whenever the same file would
// give other entities or spans than before.
const Version = 1

// The limits on one file.
const (
	MaxFileBytes = 1_000_000 // a larger file is not parsed: about 100 bytes of memory for each of its own
	MaxEntities  = 50_000
	MaxSpans     = 100_000
)

// Result is what is known about one file.
type Result struct {
	Entities  []codesage.Entity // by StartByte
	Spans     []codesage.Span   // sorted, disjoint; nil for Markdown
	Skip      codesage.SkipReason
	Truncated bool // the file has more entities or spans than the limits allow
}

// Supports reports whether files with this language label have entities.
func Supports(language string) bool {
	if language == markdown {
		return true
	}
	_, ok := languages[language]
	return ok
}

// grammarOf returns the name of the grammar for a file: its language label,
// except for the TypeScript files that hold JSX.
func grammarOf(language, file string) string {
	if language == "typescript" && strings.EqualFold(path.Ext(file), ".tsx") {
		return "tsx"
	}
	return language
}
