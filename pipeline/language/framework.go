package language

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// manifestMax bounds what is read of one manifest or source file.
const manifestMax = 256 << 10

// FrameworkDetector guesses the framework of a repository from its manifests
// and from Python imports. The zero value is ready. It holds a few words
// however many files it is given. It is not safe for concurrent use.
type FrameworkDetector struct {
	best map[string]finding // by ecosystem
}

// finding is the best framework found in one ecosystem.
type finding struct {
	depth int // of the manifest: the root's tells more than an example's
	rank  int // place in the ecosystem's table
	name  string
}

// Wants reports whether Add has use for a file of this name.
func (*FrameworkDetector) Wants(name string) bool { return reader(name) != nil }

// Add looks at one file. Files that say nothing of frameworks are passed over.
func (d *FrameworkDetector) Add(name, text string) {
	read := reader(name)
	if read == nil || Vendored(name) {
		return
	}
	eco, found := read(text[:min(len(text), manifestMax)])
	depth := strings.Count(name, "/")
	if strings.HasSuffix(name, ".py") {
		depth = pythonDepth // any module may import the framework
		if Test(name) {
			return
		}
	}
	for rank, f := range eco.frameworks {
		if slices.ContainsFunc(f.packages, found) {
			d.keep(eco.name, finding{depth, rank, f.name})
			return
		}
	}
}

// pythonDepth is where a Python import ranks among manifests: below a root's
// manifest, above those of sub-projects.
const pythonDepth = 1

func (d *FrameworkDetector) keep(ecosystem string, f finding) {
	old, ok := d.best[ecosystem]
	if ok && (old.depth < f.depth || old.depth == f.depth && old.rank <= f.rank) {
		return
	}
	if d.best == nil {
		d.best = make(map[string]finding)
	}
	d.best[ecosystem] = f
}

// Result returns the framework, or empty. One of the ecosystem that the primary
// language belongs to is preferred; else the one whose manifest lies nearest to
// the root. The primary language may be empty.
func (d *FrameworkDetector) Result(primary string) string {
	var best finding
	for _, eco := range ecosystems {
		f, ok := d.best[eco.name]
		switch {
		case !ok:
		case slices.Contains(eco.languages, primary):
			return f.name
		case best.name == "" || f.depth < best.depth:
			best = f
		}
	}
	return best.name
}

// readFunc returns the ecosystem that a file belongs to and a test whether the
// file names a package.
type readFunc func(text string) (*ecosystem, func(pkg string) bool)

// reader returns how a file is read; nil when it says nothing of frameworks.
func reader(name string) readFunc {
	name = base(name)
	switch name {
	case "package.json":
		return readPackageJSON
	case "composer.json":
		return readComposer
	case "go.mod":
		return words(&golang)
	case "Gemfile":
		return words(&ruby)
	case "pom.xml", "build.gradle", "build.gradle.kts", "libs.versions.toml":
		return words(&jvm)
	case "Cargo.toml":
		return words(&rust)
	case "mix.exs":
		return words(&elixir)
	case "pubspec.yaml":
		return words(&dart)
	case "requirements.txt", "pyproject.toml", "Pipfile", "setup.py", "setup.cfg":
		return words(&python)
	}
	switch {
	case strings.HasSuffix(name, ".py"):
		return readPython
	case strings.HasSuffix(name, ".csproj"):
		return words(&dotnet)
	}
	return nil
}

// words finds packages as whole words of a manifest, outside its comment lines.
func words(eco *ecosystem) readFunc {
	return func(text string) (*ecosystem, func(string) bool) {
		text = commentLine.ReplaceAllString(text, "")
		return eco, func(pkg string) bool { return containsWord(text, pkg) }
	}
}

var commentLine = regexp.MustCompile(`(?m)^[ \t]*(?:#|//)[^\n]*`)

// containsWord reports whether text has word with neither a letter, a digit nor
// a dash or underscore at its ends, whatever the case.
func containsWord(text, word string) bool {
	text, word = strings.ToLower(text), strings.ToLower(word)
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(word)
		if (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		at = start + 1
	}
}

func wordByte(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// readPackageJSON finds the packages of every kind of dependency.
func readPackageJSON(text string) (*ecosystem, func(string) bool) {
	var manifest struct {
		Dependencies, DevDependencies, PeerDependencies map[string]any
	}
	if json.Unmarshal([]byte(text), &manifest) != nil {
		return &node, func(string) bool { return false }
	}
	return &node, func(pkg string) bool {
		for _, deps := range []map[string]any{manifest.Dependencies, manifest.PeerDependencies, manifest.DevDependencies} {
			if _, ok := deps[pkg]; ok {
				return true
			}
		}
		return false
	}
}

// readComposer finds the packages that a PHP project requires.
func readComposer(text string) (*ecosystem, func(string) bool) {
	var manifest struct {
		Require map[string]any `json:"require"`
		Dev     map[string]any `json:"require-dev"`
	}
	if json.Unmarshal([]byte(text), &manifest) != nil {
		return &php, func(string) bool { return false }
	}
	return &php, func(pkg string) bool {
		_, required := manifest.Require[pkg]
		_, dev := manifest.Dev[pkg]
		return required || dev
	}
}

var pythonImport = regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import\b|import[ \t]+(\w+))`)

// readPython finds the modules that a source file imports.
func readPython(text string) (*ecosystem, func(string) bool) {
	seen := make(map[string]bool)
	for _, m := range pythonImport.FindAllStringSubmatch(text, 200) {
		seen[strings.ToLower(m[1]+m[2])] = true
	}
	return &python, func(pkg string) bool { return seen[pkg] }
}
