package pipeline

import (
	"context"
	"fmt"

	"codesage"
)

const page = 5000 // rows read at a time

// list lists the tree, selects the files to index, and reads what the base
// knows of them.
func (j *job) list(ctx context.Context) (err error) {
	j.enter(codesage.PhaseList)
	if j.rows, err = j.Store.Begin(ctx, j.run, j.base.Run); err != nil {
		return fmt.Errorf("begin rows: %w", err)
	}
	if err := j.readBase(ctx); err != nil {
		return err
	}
	files := selection{limits: j.Limits[j.repo.Source], leave: func(s codesage.Skip) error { return j.leave(ctx, s) }}
	if err := j.checkout.List(ctx, files.add, files.leave); err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	selected, err := files.choose(ctx)
	if err != nil {
		return fmt.Errorf("select files: %w", err)
	}
	var bytes int64
	for _, f := range selected {
		bytes += f.Size
	}
	if err := j.needDisk(2 * bytes); err != nil {
		return err
	}
	j.selected = selected
	j.update(func(p *codesage.Progress) { p.TotalFiles, p.Bytes = len(selected), bytes })
	return j.flushSkips(ctx)
}

// leave notes a file that is left out, and stores those that have gathered, so
// that a tree full of them is not held in memory.
func (j *job) leave(ctx context.Context, s codesage.Skip) error {
	if j.skip(s) < textBatchFiles {
		return nil
	}
	return j.flushSkips(ctx)
}

// readBase reads the files of the base, and which of them the parser gave up on.
func (j *job) readBase(ctx context.Context) error {
	if j.base.Run == 0 {
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
