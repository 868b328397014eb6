package pipeline

import (
	"context"
	"fmt"

	"codesage"
	"codesage/pipeline/source"
)

const page = 5000 // rows read at a time

// list lists the tree, reads what the base knows of it, and selects the files to
// index. From here on the number of files is known: progress shows it when the
// stage ends, and until then the bytes that are selected so far.
func (j *job) list(ctx context.Context) (err error) {
	j.enter(codesage.PhaseList)
	if j.rows, err = j.Store.Begin(ctx, j.run, j.base.Run); err != nil {
		return fmt.Errorf("begin rows: %w", err)
	}
	if err := j.readBase(ctx); err != nil {
		return err
	}
	limits := j.Limits[j.repo.Source]
	limits.MaxFileBytes = j.largest()
	files := selection{
		limits:  limits,
		readers: j.Readers,
		look:    j.look,
		take:    j.take,
		leave:   func(s codesage.Skip) error { return j.leave(ctx, s) },
	}
	if err := j.checkout.List(ctx, files.add, files.leave); err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	if err := files.choose(ctx); err != nil {
		return fmt.Errorf("select files: %w", err)
	}
	var bytes int64
	for _, f := range j.selected {
		bytes += f.Size
	}
	if err := j.needDisk(2 * bytes); err != nil {
		return err
	}
	j.update(func(p *codesage.Progress) { p.TotalFiles = len(j.selected) })
	return j.flushSkips(ctx)
}

// look judges a file as it is now. It reads none of which the source can tell
// that it is unchanged. A file that it does not rule out will be selected.
func (j *job) look(ctx context.Context, f source.File) (v verdict, err error) {
	prior, comparable := j.unchanged(f.Path)
	v.kept = comparable && (f.Hash != "" && f.Hash == prior.Hash || f.Stamp != "" && j.stamp(f.Stamp) == prior.Stamp)
	if !v.kept {
		var data []byte
		if data, v, err = j.read(ctx, f); err != nil || v.out() {
			return v, err
		}
		if v.kept = comparable && blobHash(f, data) == prior.Hash; !v.kept {
			_, v.reason = j.judge(f.Path, data)
		}
	}
	if !v.out() {
		j.update(func(p *codesage.Progress) { p.Bytes += f.Size })
	}
	return v, nil
}

// take notes a file that is selected.
func (j *job) take(f source.File, kept bool) {
	j.selected = append(j.selected, f)
	if kept {
		j.kept[f.Path] = true
	}
}

// leave notes a file that is left out, and stores those that have gathered, so
// that a tree full of them is not held in memory.
func (j *job) leave(ctx context.Context, s codesage.Skip) error {
	if j.skip(s) < textBatchFiles {
		return nil
	}
	return j.flushSkips(ctx)
}

// readBase reads the files of the base, and which of them the parser gave up on,
// unless it has.
func (j *job) readBase(ctx context.Context) error {
	if j.base.Run == 0 || len(j.prior) > 0 {
		return nil
	}
	for after := ""; ; {
		files, err := j.Store.ListFiles(ctx, j.base, after, page)
		if err != nil {
			return fmt.Errorf("read files of run %d: %w", j.base.Run, err)
		}
		for _, f := range files {
			j.prior[f.Path] = f
		}
		if len(files) < page {
			break
		}
		after = files[len(files)-1].Path
	}
	for after := ""; ; {
		skips, _, err := j.Store.ListSkips(ctx, j.base, after, page)
		if err != nil {
			return fmt.Errorf("read skipped files of run %d: %w", j.base.Run, err)
		}
		for _, s := range skips {
			if s.Reason.Indexed() {
				j.textOnly[s.Path] = s.Reason
			}
		}
		if len(skips) < page {
			return nil
		}
		after = skips[len(skips)-1].Path
	}
}
