package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"codesage"
	"codesage/store"
)

// newRun is a row to insert.
type newRun struct {
	repository codesage.RepositoryID
	trigger    codesage.Trigger
	priority   codesage.Priority
	force      bool
	path       string
	options    codesage.IndexOptions
}

// CreateRun implements store.Runs.
func (s *Store) CreateRun(ctx context.Context, n store.NewRun) (run codesage.Run, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := oneRepository(ctx, tx, n.Repository)
		if err != nil {
			return err
		}
		going, err := n.Overtakes(r)
		if err != nil {
			return err
		}
		if going != 0 {
			if err := endRun(ctx, tx, going, "Superseded by a newer run"); err != nil {
				return err
			}
		}
		priority := codesage.PriorityRefresh
		if r.Published == nil {
			priority = codesage.PriorityFirst
		}
		path, options := n.Origin(r)
		run, err = insertRun(ctx, tx, newRun{repository: r.ID, trigger: n.Trigger, priority: priority, force: n.Force, path: path, options: options})
		if err == nil && r.TextRun == 0 {
			err = showOrigin(ctx, tx, run.ID)
		}
		return err
	})
	return run, err
}

// showOrigin gives the repository of a run the run's path and options.
func showOrigin(ctx context.Context, tx querier, id codesage.RunID) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE repositories
		SET path = r.path, options = r.options
		FROM runs AS r
		WHERE r.id = ? AND repositories.id = r.repository_id`, id)
	return err
}

// insertRun adds a pending run and makes it the repository's newest.
func insertRun(ctx context.Context, tx querier, n newRun) (codesage.Run, error) {
	options, err := json.Marshal(n.options)
	if err != nil {
		return codesage.Run{}, fmt.Errorf("encode options: %w", err)
	}
	at := micros(now())
	var id codesage.RunID
	err = tx.QueryRowContext(ctx, `
		INSERT INTO runs (repository_id, status, phase, trigger, force, path, options, priority, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		RETURNING id`,
		n.repository, codesage.StatusPending, codesage.PhaseWaiting, n.trigger, n.force, n.path, string(options), n.priority, at).Scan(&id)
	if err != nil {
		return codesage.Run{}, err
	}
	if _, err := tx.ExecContext(ctx, `
		UPDATE repositories
		SET latest_run = ?, updated_at = ?
		WHERE id = ?`, id, at, n.repository); err != nil {
		return codesage.Run{}, err
	}
	return oneRun(ctx, tx, id)
}

// endRun ends a run as failed, whoever works on it.
func endRun(ctx context.Context, tx querier, id codesage.RunID, message string) error {
	at := micros(now())
	if _, err := tx.ExecContext(ctx, `
		UPDATE runs
		SET status = ?, error = ?, finished_at = ?
		WHERE id = ?`, codesage.StatusFailed, message, at, id); err != nil {
		return err
	}
	return touch(ctx, tx, id, at)
}

// touch says that the repository of a run has changed.
func touch(ctx context.Context, tx querier, id codesage.RunID, at int64) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE repositories
		SET updated_at = ?
		WHERE id = (SELECT repository_id FROM runs WHERE id = ?)`, at, id)
	return err
}

// Run implements store.Runs.
func (s *Store) Run(ctx context.Context, id codesage.RunID) (run codesage.Run, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		run, err = oneRun(ctx, tx, id)
		return err
	})
	return run, err
}

// ListRuns implements store.Runs.
func (s *Store) ListRuns(ctx context.Context, id codesage.RepositoryID, limit int) (runs []codesage.Run, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := repositoryExists(ctx, tx, id); err != nil {
			return err
		}
		runs, err = selectRuns(ctx, tx, `r.repository_id = ? ORDER BY r.id DESC LIMIT ?`, id, max(0, limit))
		return err
	})
	return runs, err
}

// UnfinishedRuns implements store.Runs.
func (s *Store) UnfinishedRuns(ctx context.Context, silence time.Duration) (runs []codesage.Run, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		runs, err = selectRuns(ctx, tx, `
			(r.status = 'pending' OR r.status = 'processing' AND r.heartbeat_at <= ?)
			ORDER BY r.id`, silentSince(silence))
		return err
	})
	return runs, err
}

// StartRun implements store.Runs.
func (s *Store) StartRun(ctx context.Context, id codesage.RunID, silence time.Duration) (run codesage.Run, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if run, err = oneRun(ctx, tx, id); err != nil {
			return err
		}
		r, err := oneRepository(ctx, tx, run.Repository)
		switch {
		case err != nil:
			return err
		case !run.Going():
			return codesage.Errorf(codesage.KindConflict, "run %d has ended", id)
		case r.Latest == nil || r.Latest.ID != id:
			return codesage.Errorf(codesage.KindConflict, "run %d is not the newest of %s", id, r.Name)
		case run.Status == codesage.StatusProcessing && micros(run.HeartbeatAt) > silentSince(silence):
			return codesage.Errorf(codesage.KindConflict, "run %d is being worked on", id)
		}
		at := micros(now())
		if _, err := tx.ExecContext(ctx, `
			UPDATE runs
			SET status = ?, phase = ?, attempt = attempt + 1, crashes = crashes + CASE WHEN status = 'processing' THEN 1 ELSE 0 END, commit_sha = '',
				text_files = 0, kept_files = 0, parsed_files = 0,
				entities = 0, bytes = 0, skipped = '{}', peak_memory = 0,
				started_at = ?, heartbeat_at = ?
			WHERE id = ?`, codesage.StatusProcessing, codesage.PhaseWaiting, at, at, id); err != nil {
			return err
		}
		if err := touch(ctx, tx, id, at); err != nil {
			return err
		}
		run, err = oneRun(ctx, tx, id)
		return err
	})
	return run, err
}

// silentSince is the last moment at which a heart may have beaten that has been
// silent for a time.
func silentSince(silence time.Duration) int64 {
	if silence <= 0 {
		return math.MaxInt64 // also when the clock was set back
	}
	return micros(now().Add(-silence))
}

// Report implements store.Runs.
func (s *Store) Report(ctx context.Context, run codesage.Run, p codesage.Progress) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := live(ctx, tx, run); err != nil {
			return err
		}
		return report(ctx, tx, run, p)
	})
}

// report stores progress. A counter that is smaller than the stored one, or a
// phase or commit that is empty, leaves what is there.
func report(ctx context.Context, tx querier, run codesage.Run, p codesage.Progress) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE runs
		SET phase = COALESCE(NULLIF(?, ''), phase),
			commit_sha = COALESCE(NULLIF(?, ''), commit_sha),
			total_files = MAX(total_files, ?),
			processed_files = MAX(processed_files, ?),
			text_files = MAX(text_files, ?),
			kept_files = MAX(kept_files, ?),
			parsed_files = MAX(parsed_files, ?),
			entities = MAX(entities, ?),
			bytes = MAX(bytes, ?),
			peak_memory = MAX(peak_memory, ?),
			heartbeat_at = ?
		WHERE id = ?`,
		p.Phase, p.Commit, p.TotalFiles, p.ProcessedFiles, p.TextFiles, p.KeptFiles, p.ParsedFiles,
		p.Entities, p.Bytes, p.PeakMemory, micros(now()), run.ID)
	return err
}

// FailRun implements store.Runs.
func (s *Store) FailRun(ctx context.Context, run codesage.Run, p codesage.Progress, message string) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := live(ctx, tx, run); err != nil {
			return err
		}
		if err := report(ctx, tx, run, p); err != nil {
			return err
		}
		return endRun(ctx, tx, run.ID, message)
	})
}

// ReleaseRun implements store.Runs.
func (s *Store) ReleaseRun(ctx context.Context, run codesage.Run) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := live(ctx, tx, run); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `
			UPDATE runs
			SET status = ?, phase = ?, crashes = ?
			WHERE id = ?`, codesage.StatusPending, codesage.PhaseWaiting, run.Crashes, run.ID); err != nil {
			return err
		}
		return touch(ctx, tx, run.ID, micros(now()))
	})
}

// CancelRun implements store.Runs.
func (s *Store) CancelRun(ctx context.Context, id codesage.RepositoryID, message string) (run codesage.Run, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := oneRepository(ctx, tx, id)
		if err != nil {
			return err
		}
		if r.Latest == nil || !r.Latest.Going() {
			return codesage.Errorf(codesage.KindConflict, "no run of %s is going", r.Name)
		}
		if err := endRun(ctx, tx, r.Latest.ID, message); err != nil {
			return err
		}
		run, err = oneRun(ctx, tx, r.Latest.ID)
		return err
	})
	return run, err
}

// live fails with KindConflict unless this attempt of the run is the one that
// is being worked on.
func live(ctx context.Context, tx querier, run codesage.Run) error {
	var alive bool
	err := tx.QueryRowContext(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM runs AS r
			JOIN repositories AS p ON p.id = r.repository_id
			WHERE r.id = ? AND r.repository_id = ? AND r.attempt = ? AND r.status = ? AND p.deleted = 0)`,
		run.ID, run.Repository, run.Attempt, codesage.StatusProcessing).Scan(&alive)
	if err == nil && !alive {
		err = codesage.Errorf(codesage.KindConflict, "attempt %d of run %d has been overtaken", run.Attempt, run.ID)
	}
	return err
}

// oneRun returns a run; KindNotFound when it or its repository is not there.
func oneRun(ctx context.Context, tx querier, id codesage.RunID) (codesage.Run, error) {
	runs, err := selectRuns(ctx, tx, `r.id = ?`, id)
	if err != nil {
		return codesage.Run{}, err
	}
	if len(runs) == 0 {
		return codesage.Run{}, codesage.Errorf(codesage.KindNotFound, "run %d not found", id)
	}
	return runs[0], nil
}

// selectRuns returns the runs that fulfil a condition, of repositories that are
// there. The condition may go on with the clauses that follow a WHERE.
func selectRuns(ctx context.Context, tx querier, condition string, args ...any) ([]codesage.Run, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT r.id, r.repository_id, r.status, r.phase, r.trigger, r.force, r.path, r.options, r.attempt, r.crashes, r.priority, r.commit_sha,
			r.total_files, r.processed_files, r.text_files, r.kept_files, r.parsed_files, r.entities, r.bytes,
			r.skipped, r.peak_memory, r.language, r.framework, r.error, r.notice,
			r.created_at, r.started_at, r.heartbeat_at, r.finished_at
		FROM runs AS r
		WHERE r.repository_id IN (SELECT id FROM repositories WHERE deleted = 0)
			AND `+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var runs []codesage.Run
	for rows.Next() {
		run, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, rows.Err()
}

func scanRun(rows *sql.Rows) (codesage.Run, error) {
	var r codesage.Run
	var options, skipped string
	var createdAt, startedAt, heartbeatAt, finishedAt int64
	if err := rows.Scan(&r.ID, &r.Repository, &r.Status, &r.Phase, &r.Trigger, &r.Force, &r.Path, &options, &r.Attempt, &r.Crashes, &r.Priority, &r.Commit,
		&r.TotalFiles, &r.ProcessedFiles, &r.TextFiles, &r.KeptFiles, &r.ParsedFiles, &r.Entities, &r.Bytes,
		&skipped, &r.PeakMemory, &r.Language, &r.Framework, &r.Error, &r.Notice,
		&createdAt, &startedAt, &heartbeatAt, &finishedAt); err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(options), &r.Options); err != nil {
		return r, fmt.Errorf("decode options of run %d: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(skipped), &r.Skipped); err != nil {
		return r, fmt.Errorf("decode skipped of run %d: %w", r.ID, err)
	}
	if len(r.Skipped) == 0 {
		r.Skipped = nil
	}
	r.CreatedAt, r.StartedAt = fromMicros(createdAt), fromMicros(startedAt)
	r.HeartbeatAt, r.FinishedAt = fromMicros(heartbeatAt), fromMicros(finishedAt)
	return r, nil
}
