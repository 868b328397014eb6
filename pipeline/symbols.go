package pipeline

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"codesage"
	"codesage/pipeline/parse"
	"codesage/search"
	"codesage/store"
)

const (
	symbolBatch = 200 // files whose symbols are stored in one transaction
	parseAhead  = 4   // texts that wait for a parse process, for each reader
)

// symbols parses every file of the run that has a grammar and no symbols yet,
// stores what it found and gives it to the engine.
func (j *job) symbols(ctx context.Context) (err error) {
	j.enter(codesage.PhaseSymbols)
	if j.records, err = j.Engine.Begin(ctx, j.repo, j.recordsBase(), j.run); err != nil {
		return fmt.Errorf("begin records: %w", err)
	}
	if err := j.forgetRecords(ctx); err != nil {
		return err
	}
	if err := j.takeOverRecords(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	texts := make(chan store.Text, parseAhead)
	found := make(chan store.Symbols, symbolBatch)
	group.Go(func() error {
		defer close(texts)
		return j.Store.Texts(ctx, j.own(), "", needsSymbols, func(t store.Text) error { return send(ctx, texts, t) })
	})
	parsers, parseCtx := errgroup.WithContext(ctx)
	for range j.Readers {
		parsers.Go(func() error { return j.parseAll(parseCtx, texts, found) })
	}
	group.Go(func() error {
		defer close(found)
		return parsers.Wait()
	})
	group.Go(func() error { return j.storeSymbols(ctx, found) })
	return group.Wait()
}

func needsSymbols(f codesage.File) bool {
	return f.Parser == 0 && parse.Supports(f.Language)
}

// forgetRecords deletes the records of files that are gone or have become
// something without symbols.
func (j *job) forgetRecords(ctx context.Context) error {
	for path, f := range j.prior {
		if _, replaced := j.replaced[path]; replaced || f.Entities == 0 || j.recordsBase() == 0 {
			continue
		}
		if err := j.records.Delete(ctx, path, f.Entities); err != nil {
			return fmt.Errorf("delete records of %s: %w", path, err)
		}
	}
	return nil
}

// takeOverRecords gives the engine what an earlier run found before it died in
// its symbol pass: its text was published and its symbols are in the store, but
// it never committed a record.
func (j *job) takeOverRecords(ctx context.Context) error {
	if j.base.Run == 0 || j.run.Force || j.recordsBase() != 0 {
		return nil
	}
	return j.putStored(ctx, j.repo, j.own(), j.records)
}

// parseAll parses texts until there are no more.
func (j *job) parseAll(ctx context.Context, texts <-chan store.Text, found chan<- store.Symbols) error {
	for t := range texts {
		r, err := j.Parser.Parse(ctx, t.Language, t.Path, []byte(t.Text))
		if err != nil {
			return fmt.Errorf("parse %s: %w", t.Path, err)
		}
		if r.Skip != "" {
			j.skip(codesage.Skip{Path: t.Path, Reason: r.Skip})
		}
		records := search.Records(j.repo, j.run.ID, t.File, t.Text, r.Entities)
		if err := j.records.Put(ctx, t.Path, j.replaced[t.Path], records); err != nil {
			return fmt.Errorf("index %s: %w", t.Path, err)
		}
		s := store.Symbols{File: t.ID, Parser: parse.Version, Entities: r.Entities, Spans: r.Spans, HasSpans: r.Skip == "" && t.Language != "markdown"}
		if err := send(ctx, found, s); err != nil {
			return err
		}
	}
	return nil
}

// storeSymbols stores symbols in batches until there are no more.
func (j *job) storeSymbols(ctx context.Context, found <-chan store.Symbols) error {
	var batch []store.Symbols
	entities := 0
	flush := func() error {
		// Reasons first: a file that is known to be parsed is not looked at again.
		if err := j.flushSkips(ctx); err != nil {
			return err
		}
		if err := j.rows.PutSymbols(ctx, batch); err != nil {
			return fmt.Errorf("store symbols: %w", err)
		}
		j.update(func(p *codesage.Progress) {
			p.ProcessedFiles += len(batch)
			p.ParsedFiles += len(batch)
			p.Entities += entities
		})
		batch, entities = batch[:0], 0
		return nil
	}
	for s := range found {
		batch = append(batch, s)
		entities += len(s.Entities)
		if len(batch) >= symbolBatch || entities >= 20*symbolBatch || len(found) == 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// send sends v unless ctx ends first.
func send[T any](ctx context.Context, c chan<- T, v T) error {
	select {
	case c <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
