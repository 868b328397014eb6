package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"codesage"
	"codesage/pipeline/chunk"
	"codesage/pipeline/decode"
	"codesage/pipeline/language"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	"codesage/store"
)

// A batch of texts is stored when it holds this much, whichever comes first.
const (
	textBatchFiles = 500
	textBatchBytes = 2 << 20
	largestFile    = 64 << 20 // of any source; what is larger is not read
)

// reading is what came of one selected file.
type reading struct {
	file  source.File
	prior codesage.File
	gone  bool       // it was deleted since it was listed
	kept  bool       // prior stands as it is
	text  store.Text // else this is stored
	stamp bool       // prior stands, but its stamp changed
}

// text reads every selected file that may have changed, cuts and stores its
// text, and ends the files that are gone.
func (j *job) text(parent context.Context) (err error) {
	j.enter(codesage.PhaseText)
	if j.texts, err = j.Texts.BeginTexts(parent, j.repo.ID, j.textsBase(), j.run); err != nil {
		return fmt.Errorf("begin texts: %w", err)
	}
	doubtful := j.keepUnchanged()
	group, ctx := errgroup.WithContext(parent)
	files := make(chan source.File)
	readings := make(chan reading, j.Readers)
	group.Go(func() error {
		defer close(files)
		for _, f := range doubtful {
			if err := send(ctx, files, f); err != nil {
				return err
			}
		}
		return nil
	})
	readers, readCtx := errgroup.WithContext(ctx)
	for range j.Readers {
		readers.Go(func() error { return j.readAll(readCtx, files, readings) })
	}
	group.Go(func() error {
		defer close(readings)
		return readers.Wait()
	})
	group.Go(func() error { return j.storeTexts(ctx, readings) })
	if err := group.Wait(); err != nil {
		return err
	}
	return j.finishText(parent)
}

// keepUnchanged lets the files stand of which the source can tell unread that
// they are unchanged, and returns the others.
func (j *job) keepUnchanged() (others []source.File) {
	for _, f := range j.selected {
		prior, same := j.unchanged(f.Path)
		if same && (f.Hash != "" && f.Hash == prior.Hash || f.Stamp != "" && j.stamp(f.Stamp) == prior.Stamp) {
			j.keep(reading{file: f, prior: prior, kept: true}, nil)
			continue
		}
		others = append(others, f)
	}
	return others
}

// readAll reads files until there are no more.
func (j *job) readAll(ctx context.Context, files <-chan source.File, readings chan<- reading) error {
	for f := range files {
		r, reason, err := j.read(ctx, f)
		if err != nil {
			return fmt.Errorf("read %s: %w", f.Path, err)
		}
		if reason != "" {
			j.skip(codesage.Skip{Path: f.Path, Reason: reason})
		}
		if reason != "" || r.gone {
			j.update(func(p *codesage.Progress) { p.TotalFiles-- })
			continue
		}
		if err := send(ctx, readings, r); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file, finds out whether it changed, and cuts it if so.
func (j *job) read(ctx context.Context, f source.File) (reading, codesage.SkipReason, error) {
	data, tooLarge, err := j.checkout.Read(ctx, f, j.largest())
	switch {
	case errors.Is(err, codesage.ErrNotFound) && j.repo.Source == codesage.SourceFolder:
		return reading{gone: true}, "", nil
	case errors.Is(err, codesage.ErrNotFound), errors.Is(err, codesage.ErrDenied):
		return reading{}, codesage.SkipUnreadable, nil
	case err != nil:
		return reading{}, "", err
	case tooLarge:
		return reading{}, j.tooLarge(), nil
	}
	hash := source.BlobHash(data)
	if prior, same := j.unchanged(f.Path); same && hash == prior.Hash {
		return reading{file: f, prior: prior, kept: true, stamp: true}, "", nil
	}
	text, reason := decode.Decode(f.Path, data)
	if reason != "" {
		return reading{}, reason, nil
	}
	label := language.Detect(f.Path, []byte(text))
	generated := language.Generated(f.Path, []byte(text))
	if reason := j.unwanted(f.Path, label, generated); reason != "" {
		return reading{}, reason, nil
	}
	t := store.Text{Text: text, File: codesage.File{
		Path:      f.Path,
		Hash:      hash,
		Language:  label,
		Size:      int64(len(data)),
		Lines:     codesage.CountLines(text),
		Generated: generated,
		Test:      language.Test(f.Path),
		Stamp:     j.stamp(f.Stamp),
	}}
	size, overlap := j.repo.Options.Window()
	if err := j.texts.Put(ctx, f.Path, hash, text, chunk.Cut(text, size, overlap)); err != nil {
		return reading{}, "", fmt.Errorf("index text: %w", err)
	}
	return reading{file: f, text: t}, "", nil
}

// storeTexts stores readings in batches until there are no more.
func (j *job) storeTexts(ctx context.Context, readings <-chan reading) error {
	var batch []store.Text
	bytes := 0
	stamps := map[codesage.FileID]string{}
	flush := func() error {
		if err := j.putTexts(ctx, batch, stamps); err != nil {
			return err
		}
		batch, bytes = nil, 0
		clear(stamps)
		return j.flushSkips(ctx)
	}
	for r := range readings {
		if r.kept {
			j.keep(r, stamps)
		} else {
			batch = append(batch, r.text)
			bytes += len(r.text.Text)
		}
		if len(batch) >= textBatchFiles || bytes >= textBatchBytes || len(stamps) >= textBatchFiles {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// keep lets a file of the base stand.
func (j *job) keep(r reading, stamps map[codesage.FileID]string) {
	j.kept[r.file.Path] = true
	if r.stamp {
		stamps[r.prior.ID] = j.stamp(r.file.Stamp)
	}
	waits := needsSymbols(r.prior)
	if reason, ok := j.textOnly[r.file.Path]; ok && !waits {
		j.skip(codesage.Skip{Path: r.file.Path, Reason: reason})
	}
	j.update(func(p *codesage.Progress) {
		p.TextFiles++
		p.Entities += r.prior.Entities
		if !waits {
			p.KeptFiles++
			p.ProcessedFiles++
		}
	})
}

func (j *job) putTexts(ctx context.Context, batch []store.Text, stamps map[codesage.FileID]string) error {
	if len(batch) > 0 {
		if _, err := j.rows.Put(ctx, batch); err != nil {
			return fmt.Errorf("store %d files: %w", len(batch), err)
		}
	}
	if len(stamps) > 0 {
		if err := j.rows.Stamp(ctx, stamps); err != nil {
			return fmt.Errorf("store stamps: %w", err)
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
	return nil
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

// largest is how many bytes of a file are read at most.
func (j *job) largest() int64 {
	most := j.Limits[j.repo.Source].MaxFileBytes
	if own := j.repo.Options.MaxFileBytes; own > 0 {
		most = own
	}
	if most <= 0 || most > largestFile {
		return largestFile
	}
	return most
}

func (j *job) tooLarge() codesage.SkipReason {
	if j.repo.Source == codesage.SourceFolder {
		return codesage.SkipLargeText
	}
	return codesage.SkipLargeFile
}

// unwanted says why a file whose text is known is left out all the same.
func (j *job) unwanted(path, label string, generated bool) codesage.SkipReason {
	switch {
	case !j.Limits[j.repo.Source].Generated:
		return ""
	case generated:
		return codesage.SkipGenerated
	case !language.Known(label, path):
		return codesage.SkipLanguage
	}
	return ""
}
