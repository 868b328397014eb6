package repositories

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/search"
	"codesage/search/local"
	"codesage/store"
	"codesage/store/sqlite"
	"codesage/store/sqlite/sqlitetest"
	"codesage/tools"
)

// world is the tools over a real store and a real index in a folder of its own.
type world struct {
	*testing.T
	store *sqlite.Store
	index *local.Index
	set   *set
}

// nobody is a queue that no worker reads.
type nobody struct{}

func (nobody) Enqueue(context.Context, codesage.Run) error  { return nil }
func (nobody) Cancel(context.Context, codesage.RunID) error { return nil }

// github is a host that has every repository but "missing".
type github struct{}

func (github) Parse(url, branch string) (codesage.Repository, error) {
	name, ok := strings.CutPrefix(url, "https://github.com/")
	if !ok {
		return codesage.Repository{}, codesage.Errorf(codesage.KindInvalid, "url: Invalid repository URL (only https is supported): %s", url)
	}
	return codesage.Repository{Name: name, Session: strings.ReplaceAll(name, "/", "-"), Source: codesage.SourceGit, URL: url, Branch: branch}, nil
}

func (github) Preflight(_ context.Context, r codesage.Repository) error {
	if strings.HasSuffix(r.Name, "/missing") {
		return codesage.Errorf(codesage.KindNotFound,
			"GitHub repository %s was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access.", r.Name)
	}
	return nil
}

func (github) Head(context.Context, codesage.Repository) (string, error) { return "", nil }

func link(r codesage.Repository, ref, path string, start, end int) string {
	if ref == "" {
		ref = "HEAD"
	}
	return fmt.Sprintf("%s/blob/%s/%s#L%d-L%d", r.URL, ref, path, start, end)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, store: sqlitetest.Open(t)}
	var err error
	if w.index, err = local.Open(filepath.Join(t.TempDir(), "index"), local.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.index.Close() })
	d := Deps{
		Store: w.store, Engine: w.index, Texts: w.index, Link: link,
		Catalog: catalog.New(catalog.Options{Store: w.store, Queue: nobody{}, Hosts: github{}}),
	}
	w.use(d)
	return w
}

// use makes the tools anew.
func (w *world) use(d Deps) {
	if d.Log == nil {
		d.Log = discard
	}
	w.set = &set{Deps: d, fileTime: regexFileTime, callTime: regexCallTime}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// file is a file to publish, with the entities found in it.
type file struct {
	path, language, text string
	entities             []codesage.Entity
}

// published stores a repository whose index holds the files.
func (w *world) published(r codesage.Repository, o codesage.Outcome, files ...file) codesage.Repository {
	w.Helper()
	repo, run, err := w.store.CreateRepository(w.Context(), r)
	w.must(err)
	w.publish(repo, run, 0, o, files...)
	repo, err = w.store.Repository(w.Context(), repo.ID)
	w.must(err)
	return repo
}

func (w *world) publish(repo codesage.Repository, run codesage.Run, base codesage.RunID, o codesage.Outcome, files ...file) {
	w.Helper()
	ctx := w.Context()
	run, err := w.store.StartRun(ctx, run.ID, time.Hour)
	w.must(err)
	rows, err := w.store.Begin(ctx, run, base)
	w.must(err)
	defer rows.Abort()
	records, err := w.index.Begin(ctx, repo, base, run)
	w.must(err)
	defer records.Abort()
	texts, err := w.index.BeginTexts(ctx, repo.ID, base, run)
	w.must(err)
	defer texts.Abort()
	for _, f := range files {
		row := codesage.File{
			Path: f.path, Hash: fmt.Sprintf("%040x", len(f.text)), Language: f.language,
			Size: int64(len(f.text)), Lines: codesage.CountLines(f.text), Entities: len(f.entities),
		}
		for i := range f.entities {
			e := &f.entities[i]
			lines := codesage.NewLineIndex(f.text)
			e.StartByte = lines.Start(e.LineStart)
			_, e.EndByte = lines.Range(e.LineEnd)
		}
		ids, err := rows.Put(ctx, []store.Text{{File: row, Text: f.text}})
		w.must(err)
		w.must(rows.PutSymbols(ctx, []store.Symbols{{File: ids[0], Parser: 1, Entities: f.entities}}))
		w.must(records.Put(ctx, f.path, 0, search.Records(repo, run.ID, row, f.text, f.entities)))
		w.must(texts.Put(ctx, f.path, row.Hash, f.text, nil))
		o.Entities += len(f.entities)
	}
	if o.TotalFiles == 0 {
		o.TotalFiles, o.ProcessedFiles = len(files), len(files)
	}
	w.must(records.Commit(ctx))
	w.must(texts.Commit(ctx))
	w.must(rows.Publish(ctx, o))
}

// git is a repository on github.com.
func git(name string) codesage.Repository {
	r, _ := github{}.Parse("https://github.com/"+name, "")
	return r
}

// answer calls a tool with JSON arguments, as the API does, and returns its
// result as JSON, or its refusal with "error: " before it.
func (w *world) answer(tool, args string) string {
	w.Helper()
	found, ok := tools.Set{Tools: w.set.tools()}.Find(tool)
	if !ok {
		w.Fatalf("no tool %s", tool)
	}
	arguments, faults := found.Arguments.Parse(json.RawMessage(args))
	if faults != nil {
		return "error: " + tools.FaultText(tool, faults)
	}
	result, err := found.Call(w.Context(), arguments)
	if err != nil {
		message, refused := tools.Answer(err)
		if !refused {
			w.Fatalf("%s %s: %v", tool, args, err)
		}
		return "error: " + message
	}
	return tools.Render(result)
}

// want checks an answer; JSON is compared by its text, as laid out by Render.
func (w *world) want(tool, args, want string) {
	w.Helper()
	if json.Valid([]byte(want)) {
		want = tools.Render(json.RawMessage(want))
	}
	if got := w.answer(tool, args); got != want {
		w.Errorf("%s %s\ngot:  %s\nwant: %s", tool, args, got, want)
	}
}

// decode calls a tool and reads its result.
func decode[T any](w *world, tool, args string) T {
	w.Helper()
	var v T
	text := w.answer(tool, args)
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		w.Fatalf("%s %s: %s", tool, args, text)
	}
	return v
}
