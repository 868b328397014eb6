package language

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/go-enry/go-enry/v2"
)

// generatedSniff is how much of a file is looked at to tell whether a program
// wrote it.
const generatedSniff = 1 << 20

// sniffPath is how much of either end of a long path is looked at: hostile
// repositories have paths of kilobytes, and every rule here reads all of them.
const sniffPath = 256

// bounded returns a path without the middle that is not looked at.
func bounded(name string) string {
	if len(name) <= 2*sniffPath {
		return name
	}
	head, tail := name[:sniffPath], name[len(name)-sniffPath:]
	if i := strings.LastIndexByte(head, '/'); i >= 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '/'); i >= 0 {
		tail = tail[i+1:]
	}
	return head + "/" + tail
}

// Vendored reports whether a path lies where the code of others is kept.
func Vendored(name string) bool { return enry.IsVendor(bounded(name)) }

// Test reports whether a path is a test or lies among tests.
func Test(name string) bool {
	name = bounded(name)
	return enry.IsTest(name) || testFolder.MatchString(name) || testFile.MatchString(base(name))
}

var (
	testFolder = regexp.MustCompile(`(?:^|/)(?:tests?|__tests__|__mocks__|specs?|testdata|androidTest|[Uu]nit[Tt]ests?)/`)
	testFile   = regexp.MustCompile(`^conftest\.py$` +
		`|^test_[^/]*\.\w+$` +
		`|(?:_test|_spec|[.-]test|[.-]spec|_unittest)\.\w+$` +
		`|[a-z0-9](?:Test|Tests|TestCase|Spec|Specs)\.(?:java|kt|kts|scala|groovy|cs|php|swift|cpp|cc|m|ts|js)$`)
)

// LockFile reports whether a file pins the versions of dependencies.
func LockFile(name string) bool {
	name = base(name)
	_, ok := lockFiles[name]
	return ok || strings.HasSuffix(name, ".lock") && !strings.HasPrefix(name, ".")
}

var lockFiles = map[string]struct{}{
	"package-lock.json": {}, "npm-shrinkwrap.json": {}, "pnpm-lock.yaml": {}, "yarn.lock": {}, "bun.lock": {}, "bun.lockb": {}, "deno.lock": {},
	"Cargo.lock": {}, "go.sum": {}, "go.work.sum": {}, "Gopkg.lock": {}, "glide.lock": {},
	"poetry.lock": {}, "Pipfile.lock": {}, "pdm.lock": {}, "uv.lock": {}, "pixi.lock": {}, "conda-lock.yml": {},
	"composer.lock": {}, "Gemfile.lock": {}, "Podfile.lock": {}, "Cartfile.resolved": {}, "Package.resolved": {},
	"mix.lock": {}, "rebar.lock": {}, "pubspec.lock": {}, "flake.lock": {}, "MODULE.bazel.lock": {},
	"packages.lock.json": {}, "project.assets.json": {}, "paket.lock": {}, "gradle.lockfile": {}, "buildscript-gradle.lockfile": {},
	".terraform.lock.hcl": {}, "cabal.project.freeze": {}, "stack.yaml.lock": {}, "conan.lock": {}, "esy.lock": {},
}

var minifiedName = regexp.MustCompile(`(?i)[.-]min\.(?:js|mjs|cjs|css|html?)$|\.(?:js|mjs|cjs|css|ts)\.map$|\.bundle\.js$`)

// Generated reports whether a program wrote the file: a lock file, a minified
// one, or one that says so in its first lines. Without content only the name
// decides.
func Generated(name string, content []byte) bool {
	name = bounded(name)
	if LockFile(name) || minifiedName.MatchString(name) {
		return true
	}
	content = content[:min(len(content), generatedSniff)]
	if marked(content) {
		return true
	}
	if path.Ext(name) == ".go" {
		// The library takes any mention of the marker for the marker; a
		// generator's own source has many.
		return enry.IsGenerated(name, nil)
	}
	return enry.IsGenerated(name, content)
}

// markerLines is how far down a file may say that it is generated.
const markerLines = 30

var marker = regexp.MustCompile(`^[ \t]*(?:(?://|#|--|;|%|/?\*+|"""|''')+|<!--|\(\*|\{-)` +
	`.*(?:(?i:\bgenerated\b.*\bdo not (?:edit|modify|change)\b|\bdo not (?:edit|modify|change)\b.*\bgenerated\b)|@generated(?:$|[^\w-]))`)

// marked reports whether a comment at the top of the file says that a program
// wrote it.
func marked(content []byte) bool {
	for n := 0; n < markerLines && len(content) > 0; n++ {
		line, rest, _ := bytes.Cut(content, []byte("\n"))
		if len(line) <= 400 && marker.Match(bytes.TrimRight(line, "\r")) {
			return true
		}
		content = rest
	}
	return false
}
