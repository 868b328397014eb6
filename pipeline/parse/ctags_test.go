package parse

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codesage"
)

// comparison is one language's: which of Universal Ctags' kinds are entities
// here, and which of ours it knows.
type comparison struct {
	language string
	ctags    string // its name for the language
	kinds    string
	files    func(t testing.TB) map[string][]byte
	ours     func(e codesage.Entity) bool
	limit    float64 // share of names that may differ; 0 reports only
}

// TestDefinitionsAreThoseOfCtags compares names and lines on source trees that
// the machine has.
func TestDefinitionsAreThoseOfCtags(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ctags"); err != nil {
		t.Skip("ctags is not installed")
	}
	if out, err := exec.Command("ctags", "--version").Output(); err != nil || !bytes.Contains(out, []byte("Universal Ctags")) {
		t.Skip("ctags is not Universal Ctags")
	}
	p := newPool(t, Config{Processes: 2, Timeout: 30 * time.Second})
	for _, c := range comparisons {
		t.Run(c.language, func(t *testing.T) { c.run(t, p) })
	}
}

var comparisons = []comparison{
	{"go", "Go", "fsitan", goTree, func(e codesage.Entity) bool {
		return e.Type == codesage.EntityClass || !strings.HasPrefix(e.Signature, "var ")
	}, 0.01},
	{"python", "Python", "cfm", pythonTree, nil, 0.01},
	{"java", "Java", "cigma", javaTree, nil, 0.01},
	{"typescript", "TypeScript", "cfigmG", typescriptTree, func(e codesage.Entity) bool {
		return !strings.HasPrefix(e.Description, "TypeScript type:")
	}, 0},
}

// maxCompared is the number of files that are compared.
const maxCompared = 400

func (c comparison) run(t *testing.T, p *Pool) {
	files := c.files(t)
	theirs := c.runCtags(t, files)
	var ours, both, differences int
	var samples []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		r, err := p.Parse(t.Context(), c.language, name, files[name])
		if err != nil || r.Skip != "" {
			t.Fatalf("%s: got %q, %v", name, r.Skip, err)
		}
		checkResult(t, r, files[name])
		got := map[string]int{}
		for _, e := range r.Entities {
			if e.Type != codesage.EntityImport && (c.ours == nil || c.ours(e)) {
				got[fmt.Sprintf("%s:%d", e.Name, e.NameLine)]++
				ours++
			}
		}
		for tag, n := range theirs[name] {
			common := min(n, got[tag])
			both += common
			if differences += n - common; n > common {
				samples = append(samples, "-"+name+" "+tag)
			}
		}
		for tag, n := range got {
			if extra := n - min(n, theirs[name][tag]); extra > 0 {
				differences += extra
				samples = append(samples, "+"+name+" "+tag)
			}
		}
	}
	share := float64(differences) / float64(max(1, both+differences))
	t.Logf("%d files: %d definitions here, %d in both, %d differ: %.2f %%", len(files), ours, both, differences, 100*share)
	if len(files) < 20 || c.limit > 0 && share > c.limit {
		t.Errorf("at most %.0f %% of at least 20 files may differ:\n%s", 100*c.limit, strings.Join(samples[:min(len(samples), 30)], "\n"))
	}
}

// runCtags returns name:line of all definitions, by file.
func (c comparison) runCtags(t *testing.T, files map[string][]byte) map[string]map[string]int {
	t.Helper()
	dir := t.TempDir()
	extension := map[string]string{"go": ".go", "python": ".py", "java": ".java", "typescript": ".ts"}[c.language]
	names := map[string]string{}
	for name, text := range files {
		copied := filepath.Join(dir, fmt.Sprintf("%d%s", len(names), extension))
		names[copied] = name
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("ctags", "--languages="+c.ctags, "--kinds-"+c.ctags+"="+c.kinds, "-u", "-x", "--_xformat=%n\t%F\t%N", "-R", dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run ctags: %v", err)
	}
	tags := map[string]map[string]int{}
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		file := names[fields[1]]
		if tags[file] == nil {
			tags[file] = map[string]int{}
		}
		if name := fields[2]; !strings.HasPrefix(name, "__anon") && !strings.HasPrefix(name, "anonymousFunction") {
			tags[file][name+":"+fields[0]]++
		}
	}
	return tags
}

func goTree(t testing.TB) map[string][]byte {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("go is not installed")
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	return readTree(t, os.DirFS(root), []string{"net", "go", "encoding", "runtime"}, ".go")
}

func pythonTree(t testing.TB) map[string][]byte {
	out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Skip("python3 is not installed")
	}
	return readTree(t, os.DirFS(strings.TrimSpace(string(out))), []string{"."}, ".py")
}

// javaTree reads the sources of a JDK.
func javaTree(t testing.TB) map[string][]byte {
	out, err := exec.Command("java", "-XshowSettings:properties", "-version").CombinedOutput()
	if err != nil {
		t.Skip("java is not installed")
	}
	_, home, _ := strings.Cut(string(out), "java.home = ")
	home, _, _ = strings.Cut(home, "\n")
	archives, _ := filepath.Glob(filepath.Join(filepath.Dir(strings.TrimSpace(home)), "*", "lib", "src.zip"))
	for _, archive := range archives {
		if z, err := zip.OpenReader(archive); err == nil {
			t.Cleanup(func() { z.Close() })
			return readTree(t, z, []string{"java.base/java/io", "java.base/java/net", "java.base/java/util"}, ".java")
		}
	}
	t.Skip("no JDK has its sources")
	return nil
}

// typescriptTree reads the sources of a module of this program that has a web
// interface.
func typescriptTree(t testing.TB) map[string][]byte {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/hibiken/asynqmon").Output()
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		t.Skip("the module is not in the cache")
	}
	return readTree(t, os.DirFS(strings.TrimSpace(string(out))), []string{"ui/src"}, ".ts")
}

// readTree reads the first files below some folders.
func readTree(t testing.TB, tree fs.FS, folders []string, extension string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for n, folder := range folders {
		_ = fs.WalkDir(tree, folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || len(files) >= maxCompared*(n+1)/len(folders) {
				return fs.SkipAll
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "site-packages" || d.Name() == "lib2to3") {
				return fs.SkipDir
			}
			if d.IsDir() || filepath.Ext(path) != extension {
				return nil
			}
			f, err := tree.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			text, err := io.ReadAll(f)
			if err == nil && len(text) <= MaxFileBytes {
				files[path] = text
			}
			return err
		})
	}
	return files
}
