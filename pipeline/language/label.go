package language

import (
	"strings"
	"sync"

	"github.com/go-enry/go-enry/v2"
	"github.com/go-enry/go-enry/v2/data"
)

// labels are those that differ from the library's name in lower case.
var labels = map[string]string{
	"":                        Text,
	"C++":                     "cpp",
	"C#":                      "csharp",
	"F#":                      "fsharp",
	"F*":                      "fstar",
	"JSX":                     "javascript",
	"TSX":                     "typescript",
	"Shell":                   "bash",
	"Sass":                    "scss",
	"Protocol Buffer":         "protobuf",
	"reStructuredText":        "rst",
	"HCL":                     "hcl",
	"Vim Script":              "vim",
	"Maven POM":               "xml",
	"XML Property List":       "xml",
	"JSON with Comments":      "json",
	"JSON5":                   "json",
	"OASv2-json":              "json",
	"OASv3-json":              "json",
	"MiniYAML":                "yaml",
	"OASv2-yaml":              "yaml",
	"OASv3-yaml":              "yaml",
	"PLSQL":                   "sql",
	"PLpgSQL":                 "sql",
	"SQLPL":                   "sql",
	"TSQL":                    "sql",
	"Gradle":                  "groovy",
	"Unix Assembly":           "assembly",
	"Motorola 68K Assembly":   "assembly",
	"Hack":                    "php",
	"RMarkdown":               "markdown",
	"MDX":                     "markdown",
	"Emacs Lisp":              "elisp",
	"Common Lisp":             "lisp",
	"Visual Basic .NET":       "vbnet",
	"Objective-C++":           "objective-cpp",
	"EditorConfig":            "ini",
	"Git Config":              "ini",
	"Terraform Template":      "terraform",
	"Wavefront Object":        Text,
	"Adblock Filter List":     Text,
	"Vim Help File":           Text,
	"Linux Kernel Module":     Text,
	"GCC Machine Description": "gcc-machine-description",
}

// extensionLabels decide at once, before any look at the content: for these
// endings one language is meant so nearly always that guessing does harm.
var extensionLabels = map[string]string{
	".py": "python", ".pyi": "python",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".tsx": "typescript", ".mts": "typescript", ".cts": "typescript",
	".java": "java", ".go": "go", ".rs": "rust",
	".cpp": "cpp", ".cc": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp", ".hxx": "cpp",
	".c": "c", ".cs": "csharp", ".php": "php", ".rb": "ruby",
	".kt": "kotlin", ".kts": "kotlin", ".swift": "swift", ".scala": "scala", ".sc": "scala",
	".sh": "bash", ".bash": "bash", ".zsh": "bash",
	".lua": "lua", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".hrl": "erlang",
	".hs": "haskell", ".clj": "clojure", ".cljs": "clojure", ".cljc": "clojure",
	".vim": "vim", ".pm": "perl", ".r": "r", ".jl": "julia", ".fs": "fsharp",
	".sql": "sql", ".html": "html", ".htm": "html", ".css": "css", ".scss": "scss", ".sass": "scss",
	".vue": "vue", ".svelte": "svelte",
	".json": "json", ".jsonc": "json", ".json5": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
	".xml": "xml", ".ini": "ini", ".cfg": "ini", ".proto": "protobuf", ".graphql": "graphql", ".gql": "graphql",
	".tf": "terraform", ".tfvars": "terraform",
	".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".rst": "rst", ".txt": Text,
	".dockerfile": "dockerfile", ".mk": "makefile",
}

// plainNames are plain texts by custom.
var plainNames = map[string]bool{
	"README": true, "CHANGELOG": true, "CHANGES": true, "HISTORY": true, "NEWS": true, "AUTHORS": true, "CONTRIBUTORS": true,
	"CREDITS": true, "MAINTAINERS": true, "OWNERS": true, "NOTICE": true, "TODO": true, "INSTALL": true, "HACKING": true, "VERSION": true,
}

// prefixLabels are names that people lengthen: Dockerfile.dev, Makefile.am.
var prefixLabels = map[string]string{
	"dockerfile.":    "dockerfile",
	"containerfile.": "dockerfile",
	"makefile.":      "makefile",
}

// labelOf returns the label of a language by the library's name.
func labelOf(name string) string {
	if label, ok := labels[name]; ok {
		return label
	}
	return strings.ReplaceAll(strings.ToLower(name), " ", "-")
}

// Kind is the rough class of a language, in the order in which files are
// preferred when not all can be taken.
type Kind int

// The kinds of language.
const (
	Source   Kind = iota // programs, and markup that programs are made of
	Document             // prose
	Data                 // data and configuration
)

// kinds are those where the library's own word is not the one wanted.
var kinds = map[string]Kind{
	"sql": Source, "graphql": Source, "protobuf": Source,
	"svg": Data, "jupyter-notebook": Data, "ini": Data, "json": Data, "yaml": Data, "xml": Data,
	"tex": Document, "asciidoc": Document, "roff": Document, "roff-manpage": Document, "markdown": Document, "html": Source, Text: Document,
}

// Class returns the kind of a label. What is not known is Data.
func Class(label string) Kind {
	if kind, ok := kinds[label]; ok {
		return kind
	}
	if kind, ok := libraryKinds()[label]; ok {
		return kind
	}
	return Data
}

// libraryKinds are the kinds of all labels by the library's types. A label that
// several of its languages share has the kind that comes first.
var libraryKinds = sync.OnceValue(func() map[string]Kind {
	kinds := make(map[string]Kind, len(data.LanguagesType))
	for name, t := range data.LanguagesType {
		kind := Data
		switch enry.Type(t) {
		case enry.Programming, enry.Markup:
			kind = Source
		case enry.Prose:
			kind = Document
		}
		label := labelOf(name)
		if known, ok := kinds[label]; !ok || kind < known {
			kinds[label] = kind
		}
	}
	return kinds
})

// secondary are languages of type programming or alike that go along with
// others: one of them is a repository's language only when it has no other.
var secondary = map[string]bool{
	"html": true, "css": true, "scss": true, "less": true, "sql": true, "dockerfile": true,
	"makefile": true, "cmake": true, "bash": true, "batchfile": true, "powershell": true,
	"graphql": true, "protobuf": true, "terraform": true, "hcl": true, "nix": true, "jinja": true,
}

// Primary returns the primary programming language of a repository, given how
// many bytes (or files, or lines) it has of each label: the one with most.
// Languages that go along with others (shell scripts, style sheets, build files)
// count only when there is nothing else. Of equals the first in the alphabet
// wins. It is empty when there is no programming language.
func Primary(counts map[string]int64) string {
	best := ""
	for label, n := range counts {
		if n <= 0 || Class(label) != Source {
			continue
		}
		if best == "" || better(label, n, best, counts[best]) {
			best = label
		}
	}
	return best
}

func better(label string, n int64, best string, most int64) bool {
	if secondary[label] != secondary[best] {
		return !secondary[label]
	}
	if n != most {
		return n > most
	}
	return label < best
}
