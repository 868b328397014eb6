package index

import (
	"context"
	"path/filepath"
	"sync"
)

// Build writes one segment to path from n files, with the given number of
// goroutines. Each call of add adds one of the files to the Writer that it is
// given; calls for different files run at the same time. The budget of the
// options is shared out among the goroutines, and opt.Dir and opt.Owner default
// to those of path. The first error of add, or that of ctx, ends the build and
// leaves nothing behind.
func Build(ctx context.Context, path string, opt WriterOptions, n, workers int, add func(w *Writer, i int) error) error {
	if opt.Dir == "" {
		opt.Dir, opt.Owner = filepath.Dir(path), ownerOf(filepath.Base(path))
	}
	if opt.Budget <= 0 {
		opt.Budget = 32 << 20
	}
	workers = max(1, min(workers, (n+buildBatch-1)/buildBatch))
	opt.Budget /= workers
	b := &build{ctx: ctx, n: n, add: add, parts: make([][]string, workers)}
	var wg sync.WaitGroup
	writers := make([]*Writer, workers)
	for i := range workers {
		w, err := NewWriter(opt)
		if err != nil {
			return err
		}
		writers[i] = w
	}
	for i, w := range writers {
		wg.Go(func() { b.work(i, w, workers > 1) })
	}
	wg.Wait()
	defer func() {
		for _, w := range writers {
			w.Abort()
		}
	}()
	if b.err != nil {
		for i, w := range writers {
			w.done = append(w.done, b.parts[i]...)
		}
		return b.err
	}
	if workers == 1 {
		return writers[0].Finish(path)
	}
	var parts []string
	for _, p := range b.parts {
		parts = append(parts, p...)
	}
	return mergeParts(parts, path)
}

// buildBatch is how many files a goroutine takes at a time, so that neighbours
// in the list, which share words, come to lie together.
const buildBatch = 32

type build struct {
	ctx context.Context
	n   int
	add func(w *Writer, i int) error

	mu    sync.Mutex
	next  int
	err   error
	parts [][]string // by worker
}

// take returns the next batch of files, or false at the end or after an error.
func (b *build) take() (from, to int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err != nil || b.next >= b.n {
		return 0, 0, false
	}
	from = b.next
	b.next = min(from+buildBatch, b.n)
	return from, b.next, true
}

func (b *build) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

func (b *build) work(worker int, w *Writer, many bool) {
	for {
		from, to, ok := b.take()
		if !ok {
			break
		}
		for i := from; i < to; i++ {
			if err := b.add(w, i); err != nil {
				b.fail(err)
				return
			}
		}
	}
	if !many {
		return
	}
	parts, err := w.takeParts()
	if err != nil {
		b.fail(err)
	}
	b.parts[worker] = parts
}
