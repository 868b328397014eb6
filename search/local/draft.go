package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"codesage"
	"codesage/search/index"
	"codesage/trace"
)

// A draft is the writer of one part of an attempt at a run: the segments of its
// base, the files deleted from them, and new segments. It is safe for concurrent
// use.
type draft struct {
	x      *Index
	f      *folder
	id     attempt
	owner  *index.Owner       // of the files that it makes
	base   *opened            // nil without one
	writer chan *index.Writer // holds the writer while nobody uses it

	mu      sync.Mutex
	pieces  []piece
	own     []string            // segments that this run made, for abort
	written map[string]struct{} // paths that the writer holds
	puts    sync.WaitGroup      // calls of put that are going on
	done    bool

	noting sync.Mutex // for failed alone: those who hold mu wait for puts
	failed error      // the run can't be committed
}

// A piece is a segment of a draft.
type piece struct {
	seg      *index.Segment
	name     string
	deleted  index.FileSet
	isOwn    bool // made by this run, which closes it
	isCopied bool // deleted is the draft's own, not that of the base's readers
}

// errEnded reports the use of a writer after Commit or Abort.
var errEnded = errors.New("the search writer has ended")

// begin opens a draft.
func (x *Index) begin(ctx context.Context, repo codesage.RepositoryID, part Part, base codesage.RunID, run codesage.Run) (*draft, error) {
	if x.o.ReadOnly {
		return nil, errors.New("the search index is open for reading only")
	}
	f, err := x.folder(repo, part)
	if err != nil {
		return nil, err
	}
	d := &draft{x: x, f: f, id: attempt{run.ID, run.Attempt}, written: map[string]struct{}{}, writer: make(chan *index.Writer, 1)}
	if base != 0 {
		if d.base, err = x.acquire(ctx, codesage.Snapshot{Repository: repo, Run: base}, part, writerWait); err != nil {
			return nil, fmt.Errorf("begin from run %d: %w", base, err)
		}
		for i, p := range d.base.ix.Parts() {
			d.pieces = append(d.pieces, piece{seg: p.Segment, name: d.base.names[i], deleted: p.Deleted})
		}
	}
	if err := d.open(); err != nil {
		if d.base != nil {
			d.base.release()
		}
		return nil, err
	}
	return d, nil
}

func (d *draft) open() (err error) {
	if d.owner, err = d.f.newOwner(); err != nil {
		return err
	}
	w, err := index.NewWriter(index.WriterOptions{Schema: d.f.schema, Dir: d.f.dir, Owner: d.owner.Name(), Budget: d.x.o.Budget})
	if err != nil {
		d.owner.End()
		return err
	}
	d.writer <- w
	return nil
}

// put replaces a path's file. After an error the draft can only be aborted.
func (d *draft) put(ctx context.Context, file index.File) error {
	if err := d.start(file.Path); err != nil {
		return err
	}
	defer d.puts.Done()
	// A file without entities needs no place; one without text does, since
	// patterns look at every file.
	if len(file.Docs) == 0 && !d.f.schema.Trigrams {
		return nil
	}
	select {
	case w := <-d.writer:
		err := w.Add(file)
		d.writer <- w
		return d.note(err)
	case <-ctx.Done():
		return d.note(ctx.Err())
	}
}

// note remembers a failure, if it is one, and returns it.
func (d *draft) note(err error) error {
	if err != nil {
		d.noting.Lock()
		defer d.noting.Unlock()
		d.failed = err
	}
	return err
}

// failure returns what was noted.
func (d *draft) failure() error {
	d.noting.Lock()
	defer d.noting.Unlock()
	return d.failed
}

// start deletes a path's older file and counts a call of put.
func (d *draft) start(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.bury(path); err != nil {
		return err
	}
	d.written[path] = struct{}{}
	d.puts.Add(1)
	return nil
}

// remove deletes a path.
func (d *draft) remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bury(path)
}

// bury deletes a path from every segment; the caller holds d.mu.
func (d *draft) bury(path string) error {
	if d.done {
		return errEnded
	}
	if _, ok := d.written[path]; ok {
		// A file can be deleted from a segment, not from a writer.
		if err := d.seal(); err != nil {
			return err
		}
	}
	for i := range d.pieces {
		p := &d.pieces[i]
		file, ok, err := p.seg.Find(path)
		if err != nil {
			return err
		}
		if !ok || p.deleted.Has(file) {
			continue
		}
		if !p.isCopied {
			p.deleted, p.isCopied = p.deleted.Clone(), true
		}
		p.deleted.Add(file)
	}
	return nil
}

// seal makes a segment of what the writer holds; the caller holds d.mu.
func (d *draft) seal() error {
	d.puts.Wait()
	if len(d.written) == 0 {
		return nil
	}
	w := <-d.writer
	defer func() { d.writer <- w }()
	p, err := d.make(func(path string) error { return w.Finish(path) })
	if err != nil {
		return d.note(err)
	}
	clear(d.written)
	d.pieces = append(d.pieces, p...)
	return nil
}

// make opens the segment that write writes; none when it has no files.
func (d *draft) make(write func(path string) error) ([]piece, error) {
	name := d.owner.NewSegment()
	d.own = append(d.own, name)
	if err := write(d.f.path(name)); err != nil {
		return nil, err
	}
	s, err := index.Open(d.f.path(name))
	if err != nil {
		return nil, err
	}
	if s.Files() == 0 {
		s.Close()
		return nil, os.Remove(d.f.path(name))
	}
	return []piece{{seg: s, name: name, isOwn: true, isCopied: true}}, nil
}

// commit writes the attempt's manifest. After an error the draft is to be
// aborted.
func (d *draft) commit(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return errEnded
	}
	d.puts.Wait()
	if err := errors.Join(d.failure(), ctx.Err()); err != nil {
		return err
	}
	if err := d.seal(); err != nil {
		return err
	}
	if err := d.merge(ctx); err != nil {
		return err
	}
	var m index.Manifest
	for _, p := range d.pieces {
		m.Segments = append(m.Segments, index.ManifestSegment{Name: p.name, Deleted: p.deleted})
	}
	if err := d.owner.WriteManifest(d.id.manifest(), m); errors.Is(err, fs.ErrNotExist) {
		// The base was damaged and has been rebuilt, or the run was overtaken long
		// ago. Another attempt begins from what there is now.
		return unavailable(err)
	} else if err != nil {
		return err
	}
	d.f.forget(d.id.run)
	d.x.trust(d.f, d.own)
	d.own = nil
	d.end()
	return nil
}

// merge joins segments as the merge policy has it. Damage must not be copied
// under good checksums, so the inputs are verified first; damaged ones stay as
// they are, for the check of readers to find.
func (d *draft) merge(ctx context.Context) error {
	sizes := make([]index.SegmentSize, len(d.pieces))
	for i, p := range d.pieces {
		sizes[i] = index.SegmentSize{Files: p.seg.Files(), Deleted: p.deleted.Len(), Bytes: p.seg.Size()}
	}
	chosen := index.MergePlan(sizes)
	if len(chosen) == 0 {
		return nil
	}
	var inputs []index.MergeInput
	for _, i := range chosen {
		p := d.pieces[i]
		if p.isOwn {
			inputs = append(inputs, index.MergeInput{Segment: p.seg, Deleted: p.deleted})
			continue
		}
		if err := p.seg.Verify(); err != nil {
			trace.Log(ctx, d.x.o.Log).Error("search index is damaged; left unmerged", "dir", d.f.dir, "err", err)
			return nil
		}
		inputs = append(inputs, index.MergeInput{Segment: p.seg, Deleted: p.deleted})
	}
	merged, err := d.make(func(path string) error { return index.Merge(path, inputs) })
	if err != nil {
		return err
	}
	for i, p := range d.pieces {
		switch {
		case !slices.Contains(chosen, i):
			merged = append(merged, p)
		case p.isOwn:
			p.seg.Close()
			os.Remove(d.f.path(p.name))
		}
	}
	d.pieces = merged
	return nil
}

// abort gives the draft up and removes what it wrote.
func (d *draft) abort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.done {
		d.end()
	}
}

// end lets go of everything that the draft has; the caller holds d.mu.
func (d *draft) end() {
	d.done = true
	d.puts.Wait()
	(<-d.writer).Abort()
	for _, p := range d.pieces {
		if p.isOwn {
			p.seg.Close()
		}
	}
	for _, name := range d.own {
		os.Remove(d.f.path(name))
	}
	if d.base != nil {
		d.base.release()
	}
	d.owner.End()
}
