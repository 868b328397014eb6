package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/tools"
)

// inTextPass reports whether a run is going whose texts can't be read yet. The
// phase in a run's row lags behind; what was published does not.
func inTextPass(repo codesage.Repository) bool {
	run := repo.Latest
	return run != nil && run.Going() && repo.TextRun != run.ID &&
		run.Phase != codesage.PhaseSymbols && run.Phase != codesage.PhasePublish
}

func inProgress(session string) error {
	return failf(internal, "Indexing already in progress for session '%s'", session)
}

// reason is what people are told of an error that is not theirs; the log has the
// rest.
func reason(err error) string {
	if message, known := tools.Answer(err); known {
		return message
	}
	return "internal error"
}

// startInterval is how often a start is tried while the run before is past its
// text pass without its row saying so.
const startInterval = 100 * time.Millisecond

// start starts a run, as begin does it. One that is past its text pass is
// superseded or waited for, as begin has it; during a text pass it is refused.
func (s *set) start(ctx context.Context, id string, begin func() (codesage.Run, error)) (codesage.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	ticker := time.NewTicker(startInterval)
	defer ticker.Stop()
	for {
		run, err := begin()
		if !errors.Is(err, codesage.ErrConflict) {
			return run, err
		}
		repo, err := s.find(ctx, id)
		if err != nil {
			return run, err
		}
		if inTextPass(repo) {
			return run, inProgress(id)
		}
		select {
		case <-ctx.Done():
			return run, inProgress(id)
		case <-ticker.C:
		}
	}
}

// rebuild indexes a folder and waits until its texts can be read; until then, and
// when the run fails, the session answers as before. failed introduces the reason.
func (s *set) rebuild(ctx context.Context, q catalog.FolderRequest, failed string) (outcome, error) {
	began := s.Now()
	q.Supersede = true
	run, err := s.start(ctx, q.Session, func() (codesage.Run, error) {
		ctx, cancel := s.step(context.WithoutCancel(ctx)) // begun is begun
		defer cancel()
		_, run, err := s.Catalog.AddFolder(ctx, q)
		return run, err
	})
	if err != nil {
		return outcome{}, fmt.Errorf("index %s as session %s: %w", q.Path, q.Session, err)
	}
	return s.await(ctx, q.Session, run, began, failed)
}

// refresh indexes a git repository again and waits.
func (s *set) refresh(ctx context.Context, repo codesage.Repository) (outcome, error) {
	began := s.Now()
	run, err := s.start(ctx, repo.Session, func() (codesage.Run, error) {
		ctx, cancel := s.step(context.WithoutCancel(ctx))
		defer cancel()
		_, run, err := s.Catalog.Reprocess(ctx, repo.ID, codesage.TriggerReprocess, false)
		return run, err
	})
	if err != nil {
		return outcome{}, fmt.Errorf("refresh session %s: %w", repo.Session, err)
	}
	return s.await(ctx, repo.Session, run, began, "Re-indexing failed")
}

// worded gives an error of starting or waiting that people can act on, and that
// has no code yet, a code and an introduction.
func worded(err error, code int, introduction string) error {
	var failure *tools.Failure
	if err == nil || errors.As(err, &failure) {
		return err
	}
	message, known := tools.Answer(err)
	switch {
	case !known:
		return err
	case errors.Is(err, codesage.ErrUnavailable):
		code = internal
	}
	return failf(code, "%s%s", introduction, message)
}

// outcome is what a run made.
type outcome struct {
	session
	totals
	took time.Duration
}

// await waits until the texts of a run can be read, and tells the caller how far
// it is. failed introduces the reason when the run fails.
func (s *set) await(ctx context.Context, id string, run codesage.Run, began time.Time, failed string) (outcome, error) {
	waiting, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	last := run
	told := -1
	repo, err := s.Catalog.Wait(waiting, run, s.AnswerTime, func(now codesage.Run) {
		last = now
		done := max(now.TextFiles, now.ProcessedFiles)
		if done > told && now.TotalFiles > 0 {
			told = done
			tools.ReportProgress(ctx, done, now.TotalFiles, fmt.Sprintf("Indexing session '%s'%s", id, howFar(&now)))
		}
	})
	switch {
	case waiting.Err() != nil && err != nil:
		return outcome{}, failf(internal, "Indexing of session '%s' is not finished%s and goes on in the background. "+
			"list_sessions shows the session when it is done.", id, howFar(&last))
	case errors.Is(err, codesage.ErrNotFound):
		return outcome{}, failf(noSession, "Session not found: %s (it was deleted during indexing)", id)
	case errors.Is(err, codesage.ErrConflict):
		return outcome{}, failf(internal, "%s: %s", failed, reason(err))
	case err != nil:
		return outcome{}, fmt.Errorf("wait for session %s: %w", id, err)
	}
	x, err := s.readable(repo)
	if err != nil {
		return outcome{}, err
	}
	t, err := s.totals(ctx, x)
	if err == nil && t.files > told { // a client is told of the end, and never of less than before
		tools.ReportProgress(ctx, t.files, t.files, fmt.Sprintf("Indexed session '%s'", id))
	}
	return outcome{x, t, s.Now().Sub(began)}, err
}

// statistics is the block of numbers after a session was indexed again, with the
// files that were left out.
func (s *set) statistics(ctx context.Context, o outcome) (string, error) {
	skipped, err := s.skippedFiles(ctx, o.session)
	if err != nil {
		return "", err
	}
	if skipped != "" {
		skipped = "\n" + skipped
	}
	perSecond := 0.0
	if o.took > 0 {
		perSecond = float64(o.files) / o.took.Seconds()
	}
	return fmt.Sprintf("**Indexing Statistics:**\n- Files indexed: %s\n- Chunks created: %s\n- Index size: %s\n- Duration: %.1fs\n- Throughput: %.0f files/sec\n%s",
		count(o.files), count(o.chunks), byteSize(o.bytes), o.took.Seconds(), perSecond, skipped), nil
}
