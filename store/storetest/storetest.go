// Package storetest is the contract suite of package store. Every
// implementation passes it.
package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/store"
)

// Run runs the suite. open returns an empty store and closes it when its test
// ends; it is called once for each test, and tests run in parallel.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, group := range [][]promise{repositoryPromises, runPromises, writerPromises, publishPromises, readerPromises, prunePromises, concurrentPromises} {
		for _, p := range group {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.test(&suite{T: t, Store: open(t)})
			})
		}
	}
}

// promise is one thing that the contract says.
type promise struct {
	name string
	test func(s *suite)
}

// suite is a test with its store.
type suite struct {
	*testing.T
	store.Store
}

// long is more than a heart is silent and a replaced snapshot lives in a test.
const long = time.Hour

// must fails the test when a call that should succeed does not.
func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

// wantKind checks the kind of an error.
func (s *suite) wantKind(what string, err error, want codesage.Kind) {
	s.Helper()
	if got := codesage.KindOf(err); err == nil || got != want {
		s.Errorf("%s: got error %v of kind %q, want kind %q", what, err, got, want)
	}
}

// same compares two values.
func (s *suite) same(what string, got, want any, options ...cmp.Option) {
	s.Helper()
	if diff := cmp.Diff(got, want, options...); diff != "" {
		s.Errorf("%s: got (-) want (+):\n%s", what, diff)
	}
}

// gitRepository and folder are repositories to create.
func gitRepository(name string) codesage.Repository {
	return codesage.Repository{Name: name, Session: sessionOf(name), Source: codesage.SourceGit, URL: "https://github.com/" + name}
}

func folder(session string) codesage.Repository {
	return codesage.Repository{Name: session, Session: session, Source: codesage.SourceFolder, Path: "/src/" + session}
}

func sessionOf(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c == '/' {
			b[i] = '-'
		}
	}
	return string(b)
}

// create stores a repository.
func (s *suite) create(r codesage.Repository) (codesage.Repository, codesage.Run) {
	s.Helper()
	made, run, err := s.CreateRepository(s.Context(), r)
	s.must(err)
	return made, run
}

// start takes a run up.
func (s *suite) start(id codesage.RunID) codesage.Run {
	s.Helper()
	run, err := s.StartRun(s.Context(), id, long)
	s.must(err)
	return run
}

// next creates a run that overtakes any other, and takes it up.
func (s *suite) next(id codesage.RepositoryID) codesage.Run {
	s.Helper()
	run, err := s.CreateRun(s.Context(), store.NewRun{Repository: id, Trigger: codesage.TriggerReprocess, Supersede: true})
	s.must(err)
	return s.start(run.ID)
}

// begin opens a writer.
func (s *suite) begin(run codesage.Run, base codesage.RunID) store.Writer {
	s.Helper()
	w, err := s.Begin(s.Context(), run, base)
	s.must(err)
	s.Cleanup(w.Abort)
	return w
}

// indexed stores a repository whose published run has the files.
func (s *suite) indexed(r codesage.Repository, files ...store.Text) (codesage.Repository, codesage.Snapshot) {
	s.Helper()
	made, run := s.create(r)
	w := s.begin(s.start(run.ID), 0)
	s.put(w, files...)
	s.must(w.Publish(s.Context(), codesage.Outcome{}))
	return s.read(made.ID)
}

// read returns a repository and its published snapshot.
func (s *suite) read(id codesage.RepositoryID) (codesage.Repository, codesage.Snapshot) {
	s.Helper()
	r, err := s.Repository(s.Context(), id)
	s.must(err)
	sn, ok := r.Snapshot()
	if !ok {
		s.Fatal("repository has no published run")
	}
	return r, sn
}

func (s *suite) put(w store.Writer, files ...store.Text) []codesage.FileID {
	s.Helper()
	ids, err := w.Put(s.Context(), files)
	s.must(err)
	if len(ids) != len(files) {
		s.Fatalf("Put of %d files returned %d ids", len(files), len(ids))
	}
	return ids
}

// text is a file with a text.
func text(path, body string) store.Text {
	lines := 0
	for _, c := range body {
		if c == '\n' {
			lines++
		}
	}
	return store.Text{
		File: codesage.File{Path: path, Hash: fmt.Sprintf("%040x", len(body)), Language: "go", Size: int64(len(body)), Lines: lines, Stamp: "s:" + path},
		Text: body,
	}
}

// function is an entity.
func function(name string, line int) codesage.Entity {
	return codesage.Entity{
		Type: codesage.EntityFunction, Name: name, Description: "Go function: " + name, Signature: "func " + name + "()",
		LineStart: line, LineEnd: line + 2, StartByte: 10 * line, EndByte: 10*line + 20, NameLine: line,
	}
}

// paths returns the paths that a snapshot has.
func (s *suite) paths(sn codesage.Snapshot) []string {
	s.Helper()
	files, err := s.ListFiles(s.Context(), sn, "", 1<<20)
	s.must(err)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	if !slices.IsSorted(paths) {
		s.Errorf("paths are not in byte order: %q", paths)
	}
	return paths
}
