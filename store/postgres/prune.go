package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"codesage"
)

// How much one transaction of a clean-up removes at most.
const (
	sweepFiles = 500
	sweepBytes = 32 << 20
	sweepRows  = 2000
)

// inTx runs a step in a transaction.
type inTx func(ctx context.Context, fn func(tx pgx.Tx) error) error

// step is an inTx for a live run.
func (w *writer) step(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return w.write(ctx, shared, fn)
}

// sweepLeftovers removes what runs newer than the one that readers see wrote:
// their files, their ends of other files, their symbols and skips.
func (w *writer) sweepLeftovers(ctx context.Context, shown codesage.RunID) error {
	if err := sweepAll(ctx, w.step, `repository_id = $1 AND from_run > $2 LIMIT $3`, w.run.Repository, shown, sweepFiles); err != nil {
		return err
	}
	if err := repeat(ctx, w.step, `
		UPDATE files
		SET until_run = NULL
		WHERE id IN (
			SELECT id
			FROM files
			WHERE repository_id = $1 AND until_run > $2
			LIMIT $3)`, w.run.Repository, shown, sweepRows); err != nil {
		return err
	}
	if err := w.sweepSymbols(ctx, shown); err != nil {
		return err
	}
	return repeat(ctx, w.step, `
		DELETE FROM skips
		WHERE (run_id, path) IN (
			SELECT k.run_id, k.path
			FROM runs AS r
			JOIN skips AS k ON k.run_id = r.id
			WHERE r.repository_id = $1 AND r.id > $2
			LIMIT $3)`, w.run.Repository, shown, sweepRows)
}

// sweepSymbols clears the symbols that runs newer than the shown one added to
// files of it.
func (w *writer) sweepSymbols(ctx context.Context, shown codesage.RunID) error {
	for more := true; more; {
		err := w.step(ctx, func(tx pgx.Tx) error {
			ids, err := selectIDs[codesage.FileID](ctx, tx, `
				SELECT id
				FROM files
				WHERE repository_id = $1 AND symbols_run > $2
				LIMIT $3`, w.run.Repository, shown, sweepFiles)
			more = len(ids) == sweepFiles
			if err != nil || len(ids) == 0 {
				return err
			}
			return clearSymbols(ctx, tx, ids)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// endAll ends every file of the base.
func (w *writer) endAll(ctx context.Context) error {
	return repeat(ctx, w.step, `
		UPDATE files
		SET until_run = $1
		WHERE id IN (
			SELECT id
			FROM files
			WHERE repository_id = $2 AND until_run IS NULL AND from_run < $1
			LIMIT $3)`, w.run.ID, w.run.Repository, sweepRows)
}

// Prune implements store.Store. It also removes what is left of deleted
// repositories. Several programs may prune at once: each takes what the others
// are not at.
func (s *Store) Prune(ctx context.Context, life time.Duration) error {
	deleted, err := s.repositoryIDs(ctx, true)
	if err != nil {
		return err
	}
	for _, id := range deleted {
		if err := s.sweepDeleted(ctx, id); err != nil {
			return err
		}
	}
	kept, err := s.repositoryIDs(ctx, false)
	if err != nil {
		return err
	}
	for _, id := range kept {
		if err := s.pruneSnapshots(ctx, id, life); err != nil {
			return err
		}
		if err := s.pruneRuns(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// pruneSnapshots removes what only readers of runs before the last one published
// longer ago than life could see.
func (s *Store) pruneSnapshots(ctx context.Context, id codesage.RepositoryID, life time.Duration) error {
	var last codesage.RunID
	err := s.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT COALESCE(MAX(id), 0)
			FROM runs
			WHERE repository_id = $1 AND status = $2 AND finished_at <= clock_timestamp() - $3::INTERVAL`,
			id, codesage.StatusCompleted, life).Scan(&last)
	})
	if err != nil || last == 0 {
		return err
	}
	if err := sweepAll(ctx, s.write, `repository_id = $1 AND until_run <= $2 LIMIT $3`, id, last, sweepFiles); err != nil {
		return err
	}
	return repeat(ctx, s.write, `
		DELETE FROM skips
		WHERE (run_id, path) IN (
			SELECT k.run_id, k.path
			FROM runs AS r
			JOIN skips AS k ON k.run_id = r.id
			WHERE r.repository_id = $1 AND r.id < $2
			LIMIT $3
			FOR UPDATE OF k SKIP LOCKED)`, id, last, sweepRows)
}

// pruneRuns removes all but the newest runs and the one that readers see, which
// is the text run: it equals the published one once there is one. The
// repository's row is the lock of its runs.
func (s *Store) pruneRuns(ctx context.Context, id codesage.RepositoryID) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		err := lockRepository(ctx, tx, id, exclusive)
		if errors.Is(err, codesage.ErrNotFound) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			DELETE FROM runs
			WHERE repository_id = $1
				AND id NOT IN (
					SELECT id
					FROM runs
					WHERE repository_id = $1
					ORDER BY id DESC
					LIMIT $2)
				AND id <> (
					SELECT text_run
					FROM repositories
					WHERE id = $1)`, id, codesage.KeepRuns)
		return err
	})
}

// sweepDeleted removes the rows of a repository that is marked as deleted, but
// for those that another program is removing.
func (s *Store) sweepDeleted(ctx context.Context, id codesage.RepositoryID) error {
	if err := sweepAll(ctx, s.write, `repository_id = $1 LIMIT $2`, id, sweepFiles); err != nil {
		return err
	}
	return s.write(ctx, func(tx pgx.Tx) error {
		mine, err := selectIDs[codesage.RepositoryID](ctx, tx, `
			SELECT id
			FROM repositories
			WHERE id = $1 AND deleted AND NOT EXISTS (SELECT 1 FROM files WHERE repository_id = $1)
			FOR UPDATE SKIP LOCKED`, id)
		if err != nil || len(mine) == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, `
			DELETE FROM runs
			WHERE repository_id = $1`, id); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			DELETE FROM repositories
			WHERE id = $1`, id)
		return err
	})
}

// repositoryIDs returns the repositories that are there, or those deleted.
func (s *Store) repositoryIDs(ctx context.Context, deleted bool) (ids []codesage.RepositoryID, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		ids, err = selectIDs[codesage.RepositoryID](ctx, tx, `
			SELECT id
			FROM repositories
			WHERE deleted = $1
			ORDER BY id`, deleted)
		return err
	})
	return ids, err
}

// sweepAll removes the files that fulfil a condition, with all that hangs on
// them. The condition ends with the limit of one transaction. Files that another
// program is removing are left to it.
func sweepAll(ctx context.Context, in inTx, condition string, args ...any) error {
	for more := true; more; {
		err := in(ctx, func(tx pgx.Tx) error {
			ids, err := someFiles(ctx, tx, condition, args...)
			more = len(ids) > 0
			if err != nil || !more {
				return err
			}
			_, err = tx.Exec(ctx, `
				DELETE FROM files
				WHERE id = ANY($1)`, int64s(ids))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// someFiles returns files that fulfil a condition, as many as one transaction
// may remove, and locks them.
func someFiles(ctx context.Context, tx pgx.Tx, condition string, args ...any) ([]codesage.FileID, error) {
	rows, err := tx.Query(ctx, `
		SELECT id, size
		FROM files
		WHERE `+condition+`
		FOR UPDATE SKIP LOCKED`, args...)
	if err != nil {
		return nil, err
	}
	var ids []codesage.FileID
	var bytes, size int64
	var id codesage.FileID
	_, err = pgx.ForEachRow(rows, []any{&id, &size}, func() error {
		if bytes < sweepBytes {
			ids, bytes = append(ids, id), bytes+size
		}
		return nil
	})
	return ids, err
}

// repeat runs a statement, each time in a transaction, until it changes nothing.
func repeat(ctx context.Context, in inTx, statement string, args ...any) error {
	for more := true; more; {
		err := in(ctx, func(tx pgx.Tx) error {
			done, err := tx.Exec(ctx, statement, args...)
			more = err == nil && changed(done)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
