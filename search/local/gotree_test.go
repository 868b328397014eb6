package local

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"codesage"
	"codesage/search"
)

// The Go tree is the corpus of real code that every machine with these tests
// has.

// eachGoFile calls fn for the files of the Go tree, from several goroutines.
func eachGoFile(t testing.TB, fn func(path, text string) error) {
	root := filepath.Join(build.Default.GOROOT, "src")
	paths := make(chan string)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for path := range paths {
				text, err := os.ReadFile(path)
				if err == nil && len(text) < 1_000_000 {
					rel, _ := filepath.Rel(root, path)
					err = fn(filepath.ToSlash(rel), string(text))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".go") {
			paths <- path
		}
		return err
	})
	close(paths)
	readers.Wait()
	if err != nil {
		t.Fatal(err)
	}
}

// goRecords makes the records of a file as the pipeline would.
func goRecords(path, text string) (records []search.Record) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	add := func(kind codesage.EntityType, word, owner, name string, n ast.Node) {
		from, to := set.Position(n.Pos()), set.Position(n.End())
		body := text[from.Offset:to.Offset]
		sig, _, _ := strings.Cut(body, "\n")
		r := search.Record{ObjectID: search.ObjectID(1, path, len(records)), FilePath: path, EntityType: kind, EntityName: name,
			Language: "go", LineStart: from.Line, LineEnd: to.Line, Signature: sig, Content: search.FirstChars(body, search.MaxContentChars),
			Description: "Go " + word + ": " + owner + name, RankWeight: kind.RankWeight()}
		if strings.HasSuffix(path, "_test.go") || strings.Contains("/"+path, "/testdata/") {
			r.IsTest = 1
		}
		records = append(records, r)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(codesage.EntityFunction, "function", receiver(d), d.Name.Name, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					add(codesage.EntityClass, "type", "", s.Name.Name, d)
				}
			}
		}
	}
	return records
}

// receiver returns the type of a method and a dot, nothing for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	for e := f.Recv.List[0].Type; ; {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}

func indexGoEntities(t testing.TB, x *Index, at codesage.Snapshot) (n int) {
	w, err := x.Begin(t.Context(), codesage.Repository{ID: at.Repository, Name: "golang/go"}, 0, codesage.Run{ID: at.Run})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	eachGoFile(t, func(path, text string) error {
		records := goRecords(path, text)
		mu.Lock()
		n += len(records)
		mu.Unlock()
		return w.Put(t.Context(), path, 0, records)
	})
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGoTreeRanking asks for what everybody knows of the Go tree, in the words
// in which assistants ask.
func TestGoTreeRanking(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes the Go tree")
	}
	t.Parallel()
	x := openTest(t, Options{})
	at := codesage.Snapshot{Repository: 1, Run: 1}
	if n := indexGoEntities(t, x, at); n < 50_000 {
		t.Fatalf("the Go tree has %d entities, want 50,000 and more", n)
	}
	for _, test := range []struct{ query, folder, description string }{
		{"json.Marshal", "encoding/json", "Go function: Marshal"},
		{"encoding/json.Marshal", "encoding/json", "Go function: Marshal"},
		{"bytes.Buffer", "bytes", "Go type: Buffer"},
		{"http.Client", "net/http", "Go type: Client"},
		{"http.Server", "net/http", "Go type: Server"},
		{"time.Duration", "time", "Go type: Duration"},
		{"errors.Is", "errors", "Go function: Is"},
		{"Client.Do", "net/http", "Go function: Client.Do"},
		{"http.Client.Do", "net/http", "Go function: Client.Do"},
		{"Server.Serve", "net/http", "Go function: Server.Serve"},
		{"(*Server).Serve", "net/http", "Go function: Server.Serve"},
		{"net.Dial", "net", "Go function: Dial"},
		{"sort.Slice", "sort", "Go function: Slice"},
		{"http.HandlerFunc", "net/http", "Go type: HandlerFunc"},
		{"tls.Config", "crypto/tls", "Go type: Config"},
		{"strings.Builder", "strings", "Go type: Builder"},
		{"json decoder", "encoding/json", "Go type: Decoder"},
		{"parse url", "net/url", "Go function: Parse"},
		{"url.Parse", "net/url", "Go function: Parse"},
		{"http client timeout", "net/http", "Go type: Client"},
	} {
		r, err := x.Search(t.Context(), search.Query{Text: test.query, Scope: []codesage.Snapshot{at}, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		rank := 1
		for _, h := range r.Hits {
			if h.Description == test.description && h.FilePath[:strings.LastIndexByte(h.FilePath, '/')] == test.folder {
				break
			}
			rank++
		}
		t.Logf("%-24s %3d of %d", test.query, rank, r.TotalHits)
		switch {
		case rank > 3:
			t.Errorf("%s: %s of %s has rank %d (%d: not on the first page), want 3 or better", test.query, test.description, test.folder, rank, len(r.Hits)+1)
		case r.Hits[0].IsTest != 0:
			t.Errorf("%s: a test comes first: %s %s", test.query, r.Hits[0].EntityName, r.Hits[0].FilePath)
		}
	}
}
