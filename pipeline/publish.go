package pipeline

import (
	"context"
	"fmt"
	"maps"

	"codesage"
	"codesage/pipeline/language"
	"codesage/store"
)

// What is read at most to guess the framework.
const (
	manifestFiles = 500
	pythonFiles   = 500
)

// publish makes the run visible: the engine's records first, then the rows, the
// repository's pointer and the run's row in one transaction.
func (j *job) publish(ctx context.Context) error {
	j.enter(codesage.PhasePublish)
	if err := j.flushSkips(ctx); err != nil {
		return err
	}
	primary, framework, err := j.character(ctx)
	if err != nil {
		return err
	}
	if err := j.check(ctx); err != nil {
		return err
	}
	if err := j.records.Commit(ctx); err != nil {
		return fmt.Errorf("commit records: %w", err)
	}
	files, err := j.Store.CountFiles(ctx, j.own())
	if err != nil {
		return fmt.Errorf("count files: %w", err)
	}
	j.mu.Lock()
	o := codesage.Outcome{
		Progress:  j.progress,
		Language:  primary,
		Framework: framework,
		Skipped:   maps.Clone(j.skipped),
	}
	j.mu.Unlock()
	o.TotalFiles, o.ProcessedFiles = files, files
	o.Notice = Notice(files, j.skipped, j.Limits[j.repo.Source])
	if err := j.rows.Publish(ctx, o); err != nil {
		return fmt.Errorf("publish run %d: %w", j.run.ID, err)
	}
	return nil
}

// character finds the primary language, by bytes, and the framework.
func (j *job) character(ctx context.Context) (primary, framework string, err error) {
	bytes := map[string]int64{}
	for after := ""; ; {
		files, err := j.Store.ListFiles(ctx, j.own(), after, page)
		if err != nil {
			return "", "", fmt.Errorf("read files of run %d: %w", j.run.ID, err)
		}
		for _, f := range files {
			bytes[f.Language] += f.Size
		}
		if len(files) < page {
			break
		}
		after = files[len(files)-1].Path
	}
	primary = language.Primary(bytes)
	var detector language.FrameworkDetector
	left := map[bool]int{true: pythonFiles, false: manifestFiles}
	want := func(f codesage.File) bool {
		python := f.Language == "python"
		if left[python] == 0 || !detector.Wants(f.Path) {
			return false
		}
		left[python]--
		return true
	}
	err = j.Store.Texts(ctx, j.own(), "", want, func(t store.Text) error {
		detector.Add(t.Path, t.Text)
		return nil
	})
	if err != nil {
		return "", "", fmt.Errorf("read manifests: %w", err)
	}
	return primary, detector.Result(primary), nil
}
