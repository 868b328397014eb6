package pipeline

import (
	"context"
	"fmt"

	"codesage"
)

// fetch makes the tree readable.
func (j *job) fetch(ctx context.Context) error {
	j.enter(codesage.PhaseFetch)
	src, ok := j.Sources[j.repo.Source]
	if !ok {
		return codesage.Errorf(codesage.KindInvalid, "this server has no source for %s repositories", j.repo.Source)
	}
	if err := j.needDisk(2 * j.Limits[j.repo.Source].MaxBytes); err != nil {
		return err
	}
	checkout, err := src.Fetch(ctx, j.repo)
	if err != nil {
		return err
	}
	j.checkout = checkout
	j.update(func(p *codesage.Progress) { p.Commit = checkout.Commit() })
	return nil
}

// check fails when the tree is no longer in its place, so that a part of it is
// not published as the whole.
func (j *job) check(ctx context.Context) error {
	if err := j.checkout.Check(ctx); err != nil {
		return fmt.Errorf("check the source of %s: %w", j.repo.Name, err)
	}
	return nil
}

// diskReserve is what stays free for the database's log and for recording that
// a run failed.
const diskReserve = 32 << 20

// needDisk fails when the data folder's disk has less free than need bytes and
// the reserve.
func (j *job) needDisk(need int64) error {
	if j.DataDir == "" || need == 0 {
		return nil
	}
	need += diskReserve
	free, err := freeDisk(j.DataDir)
	if err != nil {
		return fmt.Errorf("look at free disk of %s: %w", j.DataDir, err)
	}
	if free < need {
		return codesage.Errorf(codesage.KindTooLarge,
			"the disk of the data folder has %d MB free and this run may need %d MB; free some space and reprocess", free>>20, need>>20)
	}
	return nil
}
