package sessions

import (
	"regexp"
	"strings"

	"codesage"
)

// A definition is a way of writing, on one line, that a name stands for a
// constant, a variable or a field: what is before the name and what is after
// it. Functions and types are entities, which the parser finds.
type definition struct {
	languages     string
	before, after *regexp.Regexp
	block         *regexp.Regexp // the first line of the block that the line must be directly in
	quoted        bool           // the name is in quotes
}

// define makes a row of the table. Each expression must match all that is on its
// side; after is compared with the beginning of what follows.
func define(languages, before, after, block string) definition {
	d := definition{languages: " " + languages + " ", before: regexp.MustCompile(`^\s*(?:` + before + `)$`), after: regexp.MustCompile(`^(?:` + after + `)`)}
	if block != "" {
		d.block = regexp.MustCompile(`^(?:` + block + `)`)
	}
	return d
}

func quotedName(d definition) definition { d.quoted = true; return d }

const (
	assigned = `\s*=(?:[^=>~]|$)`
	script   = "javascript typescript vue svelte"
	access   = `(?:public|private|protected|internal|static|final|readonly|const|volatile|transient|required|override|new)\s+`
	visible  = `(?:pub(?:\([^)]*\))?\s+)?`
	storage  = `(?:static|const|constexpr|constinit|inline|thread_local|volatile|mutable|unsigned|signed)\s+`
)

// definitions are the ways of which a line of each language is sure. What is
// written like a use, or takes more than a line to tell, is left out.
var definitions = []definition{
	define("go", `(?:const|var)\s+(?:\w+\s*,\s*)*`, `\s*,|\s*=|\s+[\w*\[(<]|$`, ""),
	define("go", `(?:\w+\s*,\s*)*`, `\s*,|\s*=|\s+[\w*\[(<]|\s*//|\s*$`, `(?:const|var) \(`),
	define("go", `(?:\w+\s*,\s*)*`, `\s*,|\s+[\w*\[(<]`, `type \w+(?:\[.*\])? struct \{`),
	define(script, `(?:export\s+)?(?:declare\s+)?(?:const|let|var)\s+`, assigned+`|\s*(?:[:;,]|$)`, ""),
	define(script, `(?:(?:public|private|protected|static|readonly|declare|override)\s+)*`, `[?!]?(?:\s*[:;]|`+assigned+`)`,
		`(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:class|interface)\b.*\{\s*$`),
	define("kotlin scala swift", `(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:`+access+`|(?:fileprivate|lazy|lateinit|weak|open|implicit|class)\s+))*(?:val|var|let)\s+`, `\s*:|`+assigned+`|\s+by\b|\s*$`, ""),
	define("java", `(?:`+access+`)+[\w.<>\[\], ?]*\w[>\]]*\s+`, assigned+`|\s*[;,]`, ""),
	define("csharp", `(?:`+access+`)+[\w.<>\[\], ?]*\w[>\]?]*\s+`, assigned+`|\s*[;,]|\s*\{\s*(?:get|set|init)\b|\s*=>`, ""),
	define("rust", visible+`(?:const|static|let)\s+(?:mut\s+|ref\s+)?`, `\s*:|`+assigned+`|\s*;`, ""),
	define("rust", visible, `\s*:[^:]`, visible+`(?:struct|union)\s.*\{\s*$`),
	define("rust", ``, `\s*(?:[,({]|$)|`+assigned, visible+`enum\s.*\{\s*$`),
	define("c cpp", `#\s*define\s+`, `[\s(]|$`, ""),
	define("c cpp", `(?:`+storage+`)+(?:[\w:<>,]+[\s*&]+)*`, `\s*(?:\[[^\]]*\]\s*)*(?:=(?:[^=]|$)|;|\{|,)`, ""),
	define("c cpp", `[\w:<>,]+[\w:<>,\s*&]*[\s*&]`, `\s*(?:\[[^\]]*\]\s*)*(?:=(?:[^=]|$)|;|,|:\s*\d)`, `(?:typedef\s+)?(?:struct|union)\b[^;]*\{\s*$`),
	define("c cpp", ``, `\s*(?:,|$)|`+assigned, `(?:typedef\s+)?enum\b[^;]*\{\s*$`),
	define("php", `(?:`+access+`|var\s+)+(?:[?\w\\|]+\s+)?`, assigned+`|\s*;`, ""),
	define("php", `(?:`+access+`)*const\s+(?:\w+\s+)?`, assigned, ""),
	quotedName(define("php", `define\(\s*['"]`, `['"]\s*,`, "")),
	define("ruby", `attr_(?:accessor|reader|writer)\s+(?::\w+\s*,\s*)*:`, `\s*(?:,|$)`, ""),
	define("bash", `(?:(?:export|readonly|local|declare|typeset)\s+(?:-\w+\s+)*)?`, `=`, ""),
	define("lua", `local\s+`, assigned+`|\s*(?:<|$)`, ""),
	define("protobuf", `(?:(?:repeated|optional|required)\s+)?[\w.<>, ]*[\w>]\s+`, `\s*=\s*\d+\s*[;\[]`, ""),
	quotedName(define("terraform", `(?:resource|data)\s+"[^"]+"\s+"`, `"\s*\{`, "")),
	quotedName(define("terraform", `(?:variable|output|module)\s+"`, `"\s*\{`, "")),
	define("terraform", ``, assigned, `locals\s*\{`),
	define("python", ``, assigned+`|\s*:[^=]+`+assigned, `class\s+\w+.*:`),
	define("python", ``, `\s*:\s*[A-Za-z_"'\[]`, `class\s+\w+.*:`),
}

// atMargin are definitions of lines that are not indented.
var atMargin = []definition{
	define("python makefile", ``, assigned+`|\s*:[^=]+`+assigned, ""),
	define("makefile", `(?:export\s+)?`, `\s*(?:::?|\?|\+|!)=`, ""),
}

// constants are definitions of names that begin with a capital.
var constants = []definition{define("ruby", ``, assigned, "")}

var identifier = regexp.MustCompile(`^[\pL_$][\pL\pN_$-]*$`)

// defines reports whether a line of a text of a language surely defines a
// symbol. marks are those of the line.
func defines(language, symbol string, x *codesage.LineIndex, n int, marks lineMarks) bool {
	if marks.comment || !identifier.MatchString(symbol) {
		return false
	}
	line := strings.TrimRight(x.Text(n), "\r")
	forms := definitions
	if indent(line) == 0 {
		forms = append(forms[:len(forms):len(forms)], atMargin...)
	}
	if 'A' <= symbol[0] && symbol[0] <= 'Z' {
		forms = append(forms[:len(forms):len(forms)], constants...)
	}
	for _, d := range forms {
		if (!marks.quoted || d.quoted) && strings.Contains(d.languages, " "+language+" ") && d.fits(line, symbol) &&
			(d.block == nil || d.block.MatchString(opener(x, n))) {
			return true
		}
	}
	return false
}

// fits reports whether a whole occurrence on a line is written like the
// definition.
func (d definition) fits(line, symbol string) bool {
	for _, r := range scan(line, symbol, "any") {
		for _, at := range r.places {
			if d.before.MatchString(line[:at]) && d.after.MatchString(line[at+len(symbol):]) {
				return true
			}
		}
	}
	return false
}

// indent is how many bytes of white space a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// maxBlock is how many lines of a block are looked at to find where it begins.
const maxBlock = 2000

// opener returns the line at the margin that begins the block in which line n is
// directly; empty when there is none.
func opener(x *codesage.LineIndex, n int) string {
	depth := indent(x.Text(n))
	for at := n - 1; depth > 0 && at >= max(1, n-maxBlock); at-- {
		line := x.Text(at)
		switch {
		case strings.TrimSpace(line) == "":
		case indent(line) == 0:
			if strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#[") || strings.HasPrefix(line, "//") { // a comment or a condition
				continue
			}
			return line
		case indent(line) < depth:
			return ""
		}
	}
	return ""
}
