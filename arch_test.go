package codesage_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// module is the path that every import of ours begins with.
const module = "codesage"

// rule forbids an import. A package or import that ends in /... means all below
// it, and the path without it as well.
type rule struct {
	of, forbidden, why string
	except             []string
}

var rules = []rule{
	{of: ".", forbidden: "codesage/...", why: "the domain is imported by everything and imports nothing of ours"},
	{of: "./api/...", forbidden: "codesage/pipeline/...", why: "the API starts runs through the queue; it must not index by itself"},
	{of: "./api/...", forbidden: "codesage/worker", why: "API and worker are separate processes in a team"},
	{of: "./webhook", forbidden: "codesage/pipeline/...", why: "a push starts a run through the catalog"},
	{of: "./...", forbidden: "codesage/dashboard/browsertest", why: "a browser is for tests"},
	{of: "./webhook", forbidden: "codesage/store/...", why: "a push starts a run through the catalog"},
	{of: "./tools/...", forbidden: "codesage/pipeline/...", why: "tools read what was published"},
	{of: "./tools/...", forbidden: "codesage/search/local", why: "tools know contracts only"},
	{of: "./tools/...", forbidden: "codesage/search/algolia", why: "tools know contracts only"},
	{of: "./bridge", forbidden: "codesage/store/...", why: "the bridge speaks to the API only"},
	{of: "./bridge", forbidden: "codesage/pipeline/...", why: "the bridge speaks to the API only"},
	{of: "./bench", forbidden: "codesage/store/...", why: "it measures what a client of the API gets"},
	{of: "./bench", forbidden: "codesage/search/...", why: "it measures what a client of the API gets"},
	{of: "./catalog", forbidden: "codesage/store/sqlite", why: "only cmd knows which adapter is used"},
	{of: "./catalog", forbidden: "codesage/store/postgres", why: "only cmd knows which adapter is used"},
	{of: "./pipeline", forbidden: "codesage/store/sqlite", why: "the pipeline knows contracts only"},
	{of: "./pipeline", forbidden: "codesage/store/postgres", why: "the pipeline knows contracts only"},
	{of: "./pipeline", forbidden: "codesage/search/local", why: "the pipeline knows contracts only"},
	{of: "./pipeline", forbidden: "codesage/search/algolia", why: "the pipeline knows contracts only"},
	{of: "./pipeline", forbidden: "codesage/pipeline/source/folder", why: "the pipeline knows contracts only"},
	{of: "./pipeline", forbidden: "codesage/pipeline/source/git", why: "the pipeline knows contracts only"},
	{of: "./store", forbidden: "codesage/search/...", why: "contracts stand beside each other"},
	{of: "./store/sqlite", forbidden: "codesage/store/postgres/...", why: "adapters never import each other"},
	{of: "./store/postgres", forbidden: "codesage/store/sqlite/...", why: "adapters never import each other"},
	{of: "./store/...", forbidden: "codesage/search/local", why: "adapters never import each other"},
	{of: "./search/...", forbidden: "codesage/store/...", why: "adapters never import each other"},
	{of: "./search/...", forbidden: "codesage/pipeline/...", why: "engines index what they are given"},
	{of: "./pipeline/source/folder", forbidden: "codesage/pipeline/source/git", why: "adapters never import each other"},
	{of: "./pipeline/source/...", forbidden: "codesage/store/...", why: "a source knows trees, not what was indexed"},
	{of: "./pipeline/parse", forbidden: "codesage/store/...", why: "the parser knows files, not what was indexed"},
	{of: "./watch", forbidden: "codesage/store/...", why: "the watcher sees that folders changed; the catalog starts the runs"},
	{of: "./watch", forbidden: "codesage/worker", why: "API and worker are separate processes in a team"},
	{of: "./...", forbidden: "codesage/cmd/...", why: "cmd is the top"},
	{of: "./...", forbidden: "github.com/smacker/go-tree-sitter/...", except: []string{"./pipeline/parse"}, why: "grammars crash; only the parse process may link them in"},
	{of: "./...", forbidden: "github.com/mattn/go-sqlite3", except: []string{"./store/sqlite"}, why: "one adapter for each technology"},
	{of: "./...", forbidden: "github.com/hibiken/asynq", except: []string{"./queue"}, why: "one place knows the queue"},
	{of: "./...", forbidden: "github.com/hibiken/asynqmon", except: []string{"./queue/monitor"}, why: "one place makes the queue's web UI fit to be served"},
	{of: "./...", forbidden: "go.opentelemetry.io/...", except: []string{"./trace", "./trace/otlp", "./trace/otlp/otlptest"}, why: "one place decides what spans may hold"},
	{of: "./...", forbidden: "github.com/prometheus/...", except: []string{"./api", "./metrics"}, why: "one place decides what labels may hold"},
	{of: "./...", forbidden: "github.com/jackc/pgx/...", except: []string{"./store/postgres", "./store/postgres/postgrestest"}, why: "one adapter for each technology"},
	{of: "./...", forbidden: "github.com/algolia/...", except: []string{"./search/algolia"}, why: "one adapter for each technology; a new client is a change of one package"},
	{of: "./...", forbidden: "github.com/go-git/...", except: []string{"./pipeline/source/git", "./pipeline/source/git/gittest", "./pipeline/source/folder"}, why: "one adapter for each technology"},
	{of: "./...", forbidden: "github.com/gin-gonic/...", except: []string{"./api"}, why: "HTTP handlers live in api"},
	{of: "./...", forbidden: "github.com/chromedp/...", except: []string{"./dashboard/browsertest"}, why: "one adapter for each technology, and this one for tests"},
	{of: "./...", forbidden: "github.com/fsnotify/fsnotify", except: []string{"./watch"}, why: "one adapter for each technology"},
	{of: "./...", forbidden: "C", except: []string{"./pipeline/parse"}, why: "cgo of our own stays in one package"},
}

// stdOnly are the packages that import the standard library and nothing else;
// those that list a package may import that too.
var stdOnly = map[string][]string{
	".":              nil,
	"./search/query": nil,
	"./search/index": {"codesage/search/query"},
	"./migrations":   nil,
	"./dashboard":    {"codesage"}, // pages show what they are given; rules, and who may see what, are the API's
}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func TestDependencyRule(t *testing.T) {
	for _, p := range listPackages(t) {
		dir := "." + strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			for _, r := range rules {
				if within(dir, r.of) && within(imported, r.forbidden) && imported != p.ImportPath && !excepted(dir, r.except) {
					t.Errorf("%s imports %s: %s", dir, imported, r.why)
				}
			}
		}
	}
}

func TestLeavesImportTheStandardLibraryOnly(t *testing.T) {
	for _, p := range listPackages(t) {
		dir := "." + strings.TrimPrefix(p.ImportPath, module)
		allowed, leaf := stdOnly[dir]
		if !leaf {
			continue
		}
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			std := !strings.Contains(first, ".") && first != module
			if !std && !excepted(imported, allowed) {
				t.Errorf("%s imports %s: it is a leaf, so that anything may build on it", dir, imported)
			}
		}
	}
}

// within reports whether a path is the pattern, or below it when that ends in
// /... .
func within(path, pattern string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	return path == base || below && (base == "." || strings.HasPrefix(path, base+"/"))
}

func excepted(path string, list []string) bool {
	for _, e := range list {
		if path == e {
			return true
		}
	}
	return false
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Standard", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
