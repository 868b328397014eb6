package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/store"
)

// The size of the benchmark's snapshot: about that of a large monorepo's part.
const (
	benchFiles    = 11_000
	benchEntities = 18 // a file
	benchBatch    = 200
)

// Bench measures the store on a snapshot of 11,000 files and 198,000 entities,
// and on refreshing it.
func Bench(b *testing.B, s store.Store) {
	ctx := b.Context()
	r, run, err := s.CreateRepository(ctx, codesage.Repository{Name: "bench", Session: "bench", Source: codesage.SourceFolder})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := fillBench(b, s, run, 0, benchFiles); err != nil {
		b.Fatal(err)
	}
	b.Logf("first run: %v", time.Since(began))
	if r, err = s.Repository(ctx, r.ID); err != nil {
		b.Fatal(err)
	}
	benchReads(b, s, r)
	benchWrites(b, s, r)
	began = time.Now()
	if err := s.DeleteRepository(ctx, r.ID); err != nil {
		b.Fatal(err)
	}
	b.Logf("delete: %v", time.Since(began))
}

// benchReads measures what tools read.
func benchReads(b *testing.B, s store.Store, r codesage.Repository) {
	ctx := b.Context()
	sn, _ := r.Snapshot()
	middle := benchPath(benchFiles / 2)
	list := func(f store.EntityFilter) func() error {
		return func() error { _, _, err := s.ListEntities(ctx, sn, f); return err }
	}
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"Repository", func() error { _, err := s.Repository(ctx, r.ID); return err }},
		{"ListRepositories", func() error { _, err := s.ListRepositories(ctx); return err }},
		{"File", func() error { _, err := s.File(ctx, sn, middle); return err }},
		{"ListFiles 100", func() error { _, err := s.ListFiles(ctx, sn, middle, 100); return err }},
		{"ListFiles all", func() error { _, err := s.ListFiles(ctx, sn, "", 1<<20); return err }},
		{"CountFiles", func() error { _, err := s.CountFiles(ctx, sn); return err }},
		{"FileEntities", func() error { _, err := s.FileEntities(ctx, sn, middle); return err }},
		{"Spans", func() error { _, _, err := s.Spans(ctx, sn, middle); return err }},
		{"Texts all", func() error { return s.Texts(ctx, sn, "", nil, func(store.Text) error { return nil }) }},
		{"Analyze", func() error { _, err := s.Analyze(ctx, sn); return err }},
		{"ListEntities", list(store.EntityFilter{Limit: 50})},
		{"ListEntities type", list(store.EntityFilter{Limit: 50, Type: codesage.EntityClass})},
		{"ListEntities name", list(store.EntityFilter{Limit: 50, Name: "Handler17"})},
		{"ListEntities prefix", list(store.EntityFilter{Limit: 50, PathPrefix: "dir05/"})},
		{"ListEntities all", list(store.EntityFilter{Limit: 1 << 20})},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchWrites measures what a run writes.
func benchWrites(b *testing.B, s store.Store, r codesage.Repository) {
	ctx := b.Context()
	b.Run("refresh of 20 files", func(b *testing.B) {
		for b.Loop() {
			run, err := s.CreateRun(ctx, store.NewRun{Repository: r.ID, Supersede: true})
			if err == nil {
				err = fillBench(b, s, run, r.Published.ID, 20)
			}
			if err == nil {
				r, err = s.Repository(ctx, r.ID)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	run, err := s.CreateRun(ctx, store.NewRun{Repository: r.ID, Supersede: true})
	if err == nil {
		run, err = s.StartRun(ctx, run.ID, 0)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Report", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			if err := s.Report(ctx, run, codesage.Progress{Phase: codesage.PhaseText, ProcessedFiles: n}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchPath(i int) string { return fmt.Sprintf("dir%02d/package%03d/file%05d.go", i%20, i%400, i) }

// fillBench indexes files in batches and publishes them.
func fillBench(b *testing.B, s store.Store, run codesage.Run, base codesage.RunID, files int) error {
	ctx := b.Context()
	run, err := s.StartRun(ctx, run.ID, 0)
	if err != nil {
		return err
	}
	w, err := s.Begin(ctx, run, base)
	if err != nil {
		return err
	}
	defer w.Abort()
	body := strings.Repeat("func handler(w http.ResponseWriter, r *http.Request) { return }\n", 100)
	spans := []codesage.Span{{Start: 10, End: 60, Kind: codesage.SpanComment}, {Start: 100, End: 130, Kind: codesage.SpanString}}
	for at := 0; at < files; at += benchBatch {
		var texts []store.Text
		for i := at; i < min(at+benchBatch, files); i++ {
			texts = append(texts, text(benchPath(i), body))
		}
		ids, err := w.Put(ctx, texts)
		if err != nil {
			return err
		}
		var symbols []store.Symbols
		for i, id := range ids {
			y := store.Symbols{File: id, Parser: 1, Spans: spans, HasSpans: true}
			for j := range benchEntities {
				e := function(fmt.Sprintf("Server%dHandler%d", at+i, j), 5*j)
				e.Type = codesage.EntityTypes[j%3]
				y.Entities = append(y.Entities, e)
			}
			symbols = append(symbols, y)
		}
		if err := w.PutSymbols(ctx, symbols); err != nil {
			return err
		}
	}
	return w.Publish(ctx, codesage.Outcome{})
}
