package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

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
	err = s.write(ctx, func(tx pgx.Tx) error {
		if err := lockRepository(ctx, tx, n.Repository, exclusive); err != nil {
			return err
		}
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
func showOrigin(ctx context.Context, tx pgx.Tx, id codesage.RunID) error {
	_, err := tx.Exec(ctx, `
		UPDATE repositories
		SET path = r.path, options = r.options
		FROM runs AS r
		WHERE r.id = $1 AND repositories.id = r.repository_id`, id)
	return err
}

// insertRun adds a pending run and makes it the repository's newest.
func insertRun(ctx context.Context, tx pgx.Tx, n newRun) (codesage.Run, error) {
	options, err := json.Marshal(n.options)
	if err != nil {
		return codesage.Run{}, fmt.Errorf("encode options: %w", err)
	}
	var id codesage.RunID
	err = tx.QueryRow(ctx, `
		INSERT INTO runs (repository_id, status, phase, trigger, force, path, options, priority, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
		RETURNING id`,
		n.repository, codesage.StatusPending, codesage.PhaseWaiting, n.trigger, n.force, []byte(n.path), string(options), n.priority).Scan(&id)
	if err != nil {
		return codesage.Run{}, err
	}
	if _, err := tx.Exec(ctx, `
		UPDATE repositories
		SET latest_run = $1, updated_at = clock_timestamp()
		WHERE id = $2`, id, n.repository); err != nil {
		return codesage.Run{}, err
	}
	return oneRun(ctx, tx, id)
}

// endRun ends a run as failed, whoever works on it.
func endRun(ctx context.Context, tx pgx.Tx, id codesage.RunID, message string) error {
	if _, err := tx.Exec(ctx, `
		UPDATE runs
		SET status = $1, error = $2, finished_at = clock_timestamp()
		WHERE id = $3`, codesage.StatusFailed, escaped(message), id); err != nil {
		return err
	}
	return touch(ctx, tx, id)
}

// touch says that the repository of a run has changed.
func touch(ctx context.Context, tx pgx.Tx, id codesage.RunID) error {
	_, err := tx.Exec(ctx, `
		UPDATE repositories
		SET updated_at = clock_timestamp()
		WHERE id = (SELECT repository_id FROM runs WHERE id = $1)`, id)
	return err
}

// Run implements store.Runs.
func (s *Store) Run(ctx context.Context, id codesage.RunID) (run codesage.Run, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		run, err = oneRun(ctx, tx, id)
		return err
	})
	return run, err
}

// ListRuns implements store.Runs.
func (s *Store) ListRuns(ctx context.Context, id codesage.RepositoryID, limit int) (runs []codesage.Run, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		if err := repositoryExists(ctx, tx, id); err != nil {
			return err
		}
		runs, err = selectRuns(ctx, tx, `r.repository_id = $1 ORDER BY r.id DESC LIMIT $2`, id, max(0, limit))
		return err
	})
	return runs, err
}

// silent is the condition that the heart of a run r has been silent for the time
// $1.
const silent = `($1::INTERVAL <= INTERVAL '0' OR r.heartbeat_at <= clock_timestamp() - $1::INTERVAL)`

// UnfinishedRuns implements store.Runs.
func (s *Store) UnfinishedRuns(ctx context.Context, silence time.Duration) (runs []codesage.Run, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		runs, err = selectRuns(ctx, tx, `
			(r.status = 'pending' OR r.status = 'processing' AND `+silent+`)
			ORDER BY r.id`, silence)
		return err
	})
	return runs, err
}

// StartRun implements store.Runs.
func (s *Store) StartRun(ctx context.Context, id codesage.RunID, silence time.Duration) (run codesage.Run, err error) {
	err = s.write(ctx, func(tx pgx.Tx) error {
		if run, err = oneRun(ctx, tx, id); err != nil {
			return err
		}
		if err := lockRepository(ctx, tx, run.Repository, exclusive); err != nil {
			return err
		}
		if run, err = oneRun(ctx, tx, id); err != nil { // as it is under the lock
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
		}
		done, err := tx.Exec(ctx, `
			UPDATE runs AS r
			SET status = $2, phase = $3, attempt = attempt + 1, crashes = crashes + CASE WHEN status = 'processing' THEN 1 ELSE 0 END, commit_sha = '',
				text_files = 0, kept_files = 0, parsed_files = 0,
				entities = 0, bytes = 0, skipped = '{}', peak_memory = 0,
				started_at = clock_timestamp(), heartbeat_at = clock_timestamp()
			WHERE id = $4 AND (status = 'pending' OR `+silent+`)`, silence, codesage.StatusProcessing, codesage.PhaseWaiting, id)
		if err == nil && !changed(done) {
			err = codesage.Errorf(codesage.KindConflict, "run %d is being worked on", id)
		}
		if err != nil {
			return err
		}
		if err := touch(ctx, tx, id); err != nil {
			return err
		}
		run, err = oneRun(ctx, tx, id)
		return err
	})
	return run, err
}

// Report implements store.Runs.
func (s *Store) Report(ctx context.Context, run codesage.Run, p codesage.Progress) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		if err := live(ctx, tx, run, shared); err != nil {
			return err
		}
		return report(ctx, tx, run, p)
	})
}

// report stores progress. A counter that is smaller than the stored one, or a
// phase or commit that is empty, leaves what is there.
func report(ctx context.Context, tx pgx.Tx, run codesage.Run, p codesage.Progress) error {
	_, err := tx.Exec(ctx, `
		UPDATE runs
		SET phase = COALESCE(NULLIF($1, ''), phase),
			commit_sha = COALESCE(NULLIF($2, ''), commit_sha),
			total_files = GREATEST(total_files, $3),
			processed_files = GREATEST(processed_files, $4),
			text_files = GREATEST(text_files, $5),
			kept_files = GREATEST(kept_files, $6),
			parsed_files = GREATEST(parsed_files, $7),
			entities = GREATEST(entities, $8),
			bytes = GREATEST(bytes, $9),
			peak_memory = GREATEST(peak_memory, $10),
			heartbeat_at = clock_timestamp()
		WHERE id = $11`,
		p.Phase, p.Commit, p.TotalFiles, p.ProcessedFiles, p.TextFiles, p.KeptFiles, p.ParsedFiles,
		p.Entities, p.Bytes, p.PeakMemory, run.ID)
	return err
}

// FailRun implements store.Runs.
func (s *Store) FailRun(ctx context.Context, run codesage.Run, p codesage.Progress, message string) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		if err := live(ctx, tx, run, exclusive); err != nil {
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
	return s.write(ctx, func(tx pgx.Tx) error {
		if err := live(ctx, tx, run, exclusive); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			UPDATE runs
			SET status = $1, phase = $2, crashes = $3
			WHERE id = $4`, codesage.StatusPending, codesage.PhaseWaiting, run.Crashes, run.ID); err != nil {
			return err
		}
		return touch(ctx, tx, run.ID)
	})
}

// CancelRun implements store.Runs.
func (s *Store) CancelRun(ctx context.Context, id codesage.RepositoryID, message string) (run codesage.Run, err error) {
	err = s.write(ctx, func(tx pgx.Tx) error {
		if err := lockRepository(ctx, tx, id, exclusive); err != nil {
			return err
		}
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

// live locks the repository of a run and fails with KindConflict unless this
// attempt of the run is the one that is being worked on.
func live(ctx context.Context, tx pgx.Tx, run codesage.Run, l rowLock) error {
	overtaken := codesage.Errorf(codesage.KindConflict, "attempt %d of run %d has been overtaken", run.Attempt, run.ID)
	err := lockRepository(ctx, tx, run.Repository, l)
	if errors.Is(err, codesage.ErrNotFound) {
		return overtaken
	}
	if err != nil {
		return err
	}
	var alive bool
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM runs
			WHERE id = $1 AND repository_id = $2 AND attempt = $3 AND status = $4)`,
		run.ID, run.Repository, run.Attempt, codesage.StatusProcessing).Scan(&alive)
	if err == nil && !alive {
		err = overtaken
	}
	return err
}

// oneRun returns a run; KindNotFound when it or its repository is not there.
func oneRun(ctx context.Context, tx pgx.Tx, id codesage.RunID) (codesage.Run, error) {
	runs, err := selectRuns(ctx, tx, `r.id = $1`, id)
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
func selectRuns(ctx context.Context, tx pgx.Tx, condition string, args ...any) ([]codesage.Run, error) {
	rows, err := tx.Query(ctx, `
		SELECT r.id, r.repository_id, r.status, r.phase, r.trigger, r.force, r.path, r.options, r.attempt, r.crashes, r.priority, r.commit_sha,
			r.total_files, r.processed_files, r.text_files, r.kept_files, r.parsed_files, r.entities, r.bytes,
			r.skipped, r.peak_memory, r.language, r.framework, r.error, r.notice,
			r.created_at, r.started_at, r.heartbeat_at, r.finished_at
		FROM runs AS r
		WHERE r.repository_id IN (SELECT id FROM repositories WHERE NOT deleted)
			AND `+condition, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanRun)
}

func scanRun(row pgx.CollectableRow) (codesage.Run, error) {
	var r codesage.Run
	var options, skipped string
	var path []byte
	if err := row.Scan(&r.ID, &r.Repository, &r.Status, &r.Phase, &r.Trigger, &r.Force, &path, &options, &r.Attempt, &r.Crashes, &r.Priority, &r.Commit,
		&r.TotalFiles, &r.ProcessedFiles, &r.TextFiles, &r.KeptFiles, &r.ParsedFiles, &r.Entities, &r.Bytes,
		&skipped, &r.PeakMemory, &r.Language, &r.Framework, (*escaped)(&r.Error), (*escaped)(&r.Notice),
		(*moment)(&r.CreatedAt), (*moment)(&r.StartedAt), (*moment)(&r.HeartbeatAt), (*moment)(&r.FinishedAt)); err != nil {
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
	r.Path = string(path)
	return r, nil
}
