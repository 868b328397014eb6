package pipeline

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"codesage"
	"codesage/pipeline/chunk"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	"codesage/store"
)

// A batch of texts is stored when it holds this much, whichever comes first.
const (
	textBatchFiles = 500
	textBatchBytes = 2 << 20
)

// text reads every selected file that may have changed, cuts and stores its
// text, and ends the files that are gone.
func (j *job) text(parent context.Context) (err error) {
	j.enter(codesage.PhaseText)
	if j.texts, err = j.Texts.BeginTexts(parent, j.repo.ID, j.textsBase(), j.run); err != nil {
		return fmt.Errorf("begin texts: %w", err)
	}
	changed, err := j.keepUnchanged(parent)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(parent)
	files := make(chan source.File)
	texts := make(chan store.Text, j.Readers)
	group.Go(func() error {
		defer close(files)
		for _, f := range changed {
			if err := send(ctx, files, f); err != nil {
				return err
			}
		}
		return nil
	})
	readers, readCtx := errgroup.WithContext(ctx)
	for range j.Readers {
		readers.Go(func() error { return j.readAll(readCtx, files, texts) })
	}
	group.Go(func() error {
		defer close(texts)
		return readers.Wait()
	})
	group.Go(func() error { return j.storeTexts(ctx, texts) })
	if err := group.Wait(); err != nil {
		return err
	}
	return j.finishText(parent)
}

// keepUnchanged lets the files of the base stand that the selection found
// unchanged, and returns the selected files that are not.
func (j *job) keepUnchanged(ctx context.Context) (others []source.File, err error) {
	stamps := map[codesage.FileID]string{} // new ones, of files with the same content
	flush := func() error {
		if len(stamps) == 0 {
			return nil
		}
		defer clear(stamps)
		if err := j.rows.Stamp(ctx, stamps); err != nil {
			return fmt.Errorf("store %d stamps: %w", len(stamps), err)
		}
		return nil
	}
	for _, f := range j.selected {
		if !j.kept[f.Path] {
			others = append(others, f)
			continue
		}
		prior := j.prior[f.Path]
		j.keep(prior)
		if stamp := j.stamp(f.Stamp); stamp != prior.Stamp {
			stamps[prior.ID] = stamp
		}
		if len(stamps) == textBatchFiles {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return others, flush()
}

// keep lets a file of the base stand.
func (j *job) keep(prior codesage.File) {
	waits := needsSymbols(prior)
	if reason, ok := j.textOnly[prior.Path]; ok && !waits {
		j.skip(codesage.Skip{Path: prior.Path, Reason: reason})
	}
	j.update(func(p *codesage.Progress) {
		p.TextFiles++
		p.Entities += prior.Entities
		if !waits {
			p.KeptFiles++
			p.ProcessedFiles++
		}
	})
}

// readAll reads files, indexes their text and sends it on, until there are no
// more. A file may have gone since it was selected, or be something else now
// than text. It is left out then, and the number of files stays what was said
// until the run is published with those that it stored.
func (j *job) readAll(ctx context.Context, files <-chan source.File, texts chan<- store.Text) error {
	size, overlap := j.repo.Options.Window()
	for f := range files {
		t, v, err := j.readText(ctx, f)
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", f.Path, err)
		case v.gone:
			continue
		case v.reason != "":
			j.skip(codesage.Skip{Path: f.Path, Reason: v.reason})
			continue
		}
		if err := j.texts.Put(ctx, t.Path, t.Hash, t.Text, chunk.Cut(t.Text, size, overlap)); err != nil {
			return fmt.Errorf("index text of %s: %w", t.Path, err)
		}
		if err := send(ctx, texts, t); err != nil {
			return err
		}
	}
	return nil
}

// storeTexts stores texts in batches until there are no more.
func (j *job) storeTexts(ctx context.Context, texts <-chan store.Text) error {
	var batch []store.Text
	bytes := 0
	for t := range texts {
		batch = append(batch, t)
		bytes += len(t.Text)
		if len(batch) < textBatchFiles && bytes < textBatchBytes {
			continue
		}
		if err := j.putTexts(ctx, batch); err != nil {
			return err
		}
		batch, bytes = nil, 0
	}
	return j.putTexts(ctx, batch)
}

// putTexts stores a batch and the skips that have gathered meanwhile.
func (j *job) putTexts(ctx context.Context, batch []store.Text) error {
	if len(batch) > 0 {
		if _, err := j.rows.Put(ctx, batch); err != nil {
			return fmt.Errorf("store %d files: %w", len(batch), err)
		}
	}
	done := 0
	for _, t := range batch {
		j.changed[t.Path] = true
		if !parse.Supports(t.Language) {
			done++
			continue
		}
		j.replaced[t.Path] = j.prior[t.Path].Entities
	}
	j.update(func(p *codesage.Progress) {
		p.TextFiles += len(batch)
		p.ProcessedFiles += done
	})
	return j.flushSkips(ctx)
}

// finishText ends the files that are gone and makes the text index durable.
// From here on prior holds the base's files that were not kept.
func (j *job) finishText(ctx context.Context) error {
	if err := j.check(ctx); err != nil {
		return err
	}
	var gone []string
	for path := range j.prior {
		switch {
		case j.kept[path]:
			delete(j.prior, path)
		case !j.changed[path]:
			gone = append(gone, path)
		}
	}
	for paths := range slices.Chunk(gone, textBatchFiles) {
		if err := j.rows.Remove(ctx, paths); err != nil {
			return fmt.Errorf("end %d files: %w", len(paths), err)
		}
	}
	if j.textsBase() == 0 {
		gone = nil
	}
	for _, path := range gone {
		if err := j.texts.Delete(ctx, path); err != nil {
			return fmt.Errorf("delete text of %s: %w", path, err)
		}
	}
	if err := j.texts.Commit(ctx); err != nil {
		return fmt.Errorf("commit texts: %w", err)
	}
	if !j.firstOfFolder() {
		return nil
	}
	return j.rows.PublishText(ctx)
}
