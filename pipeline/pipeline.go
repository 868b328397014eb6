// Package pipeline indexes a repository: it gets the files, selects those to
// index, cuts and stores their text, finds their symbols, and publishes the
// result. Files that have not changed since the published index are neither
// read again, where the source can tell, nor parsed, stored or sent again.
package pipeline

import (
	"context"
	"log/slog"

	"codesage"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	"codesage/search"
	"codesage/store"
)

// Pipeline runs the stages. It is safe for concurrent use, by as many runs as
// the caller allows.
type Pipeline struct {
	Store   store.Store
	Engine  search.Engine
	Texts   search.TextIndex
	Parser  parser
	Sources map[codesage.SourceKind]source.Source
	Limits  map[codesage.SourceKind]Limits
	Readers int    // files read at the same time by one run
	DataDir string // where free space is looked at; empty = nowhere
	Log     *slog.Logger
}

// parser is parse.Pool.
type parser interface {
	Parse(ctx context.Context, language, path string, text []byte) (parse.Result, error)
}

// Run works on one attempt of a run, from its source to its publication, and
// tells report how far it is; report is called often, from one goroutine at a
// time, and must not block. When Run returns nil the run is published and its
// row says so. Any error leaves what was published before as it was. A run that
// nobody asked for, of a source that is at the published commit still, fetches
// nothing and publishes the same files again.
func (p *Pipeline) Run(ctx context.Context, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) error {
	j := newJob(p, repo, run, report)
	defer j.close()
	if current, err := j.current(ctx); err != nil {
		return err
	} else if current {
		return j.republish(ctx)
	}
	stages := []func(context.Context) error{
		j.fetch,   // get the tree
		j.list,    // list and select its files
		j.text,    // read, cut and index what changed
		j.symbols, // parse what changed
		j.publish, // make it visible
	}
	for _, stage := range stages {
		if err := stage(ctx); err != nil {
			return err
		}
	}
	return nil
}
