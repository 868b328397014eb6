package sqlite

import (
	"context"
	"database/sql"
	"time"

	"codesage"
)

// How much one transaction of a clean-up removes at most: it holds the writer.
const (
	sweepFiles = 500
	sweepBytes = 32 << 20
	sweepRows  = 2000

	shrinkPages = 2048 // fewer free pages than this are not worth the work
)

// inTx runs a step in a transaction: Store.write or writer.write.
type inTx func(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error

// sweepLeftovers removes what runs newer than the one that readers see wrote:
// their files, their ends of other files, their symbols and skips.
func (w *writer) sweepLeftovers(ctx context.Context, shown codesage.RunID) error {
	if err := sweepAll(ctx, w.write, `repository_id = ? AND from_run > ?`, w.run.Repository, shown); err != nil {
		return err
	}
	if err := repeat(ctx, w.write, `
		UPDATE files
		SET until_run = NULL
		WHERE id IN (
			SELECT id
			FROM files
			WHERE repository_id = ? AND until_run > ?
			LIMIT ?)`, w.run.Repository, shown, sweepRows); err != nil {
		return err
	}
	if err := w.sweepSymbols(ctx, shown); err != nil {
		return err
	}
	return repeat(ctx, w.write, `
		DELETE FROM skips
		WHERE (run_id, path) IN (
			SELECT k.run_id, k.path
			FROM runs AS r
			JOIN skips AS k ON k.run_id = r.id
			WHERE r.repository_id = ? AND r.id > ?
			LIMIT ?)`, w.run.Repository, shown, sweepRows)
}

// sweepSymbols clears the symbols that runs newer than the shown one added to
// files of it.
func (w *writer) sweepSymbols(ctx context.Context, shown codesage.RunID) error {
	for more := true; more; {
		err := w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			ids, err := selectIDs[codesage.FileID](ctx, tx, `
				SELECT id
				FROM files
				WHERE repository_id = ? AND symbols_run > ?
				LIMIT ?`, w.run.Repository, shown, sweepFiles)
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
	return repeat(ctx, w.write, `
		UPDATE files
		SET until_run = ?1
		WHERE id IN (
			SELECT id
			FROM files
			WHERE repository_id = ?2 AND until_run IS NULL AND from_run < ?1
			LIMIT ?3)`, w.run.ID, w.run.Repository, sweepRows)
}

// Prune implements store.Store. It also removes what is left of deleted
// repositories, and gives free pages at the end of the file back to the disk.
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
	return s.shrink(ctx)
}

// pruneSnapshots removes what only readers of runs before the last one published
// longer ago than life could see.
func (s *Store) pruneSnapshots(ctx context.Context, id codesage.RepositoryID, life time.Duration) error {
	var last codesage.RunID
	err := s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			SELECT COALESCE(MAX(id), 0)
			FROM runs
			WHERE repository_id = ? AND status = ? AND finished_at <= ?`,
			id, codesage.StatusCompleted, micros(now().Add(-life))).Scan(&last)
	})
	if err != nil || last == 0 {
		return err
	}
	if err := sweepAll(ctx, s.write, `repository_id = ? AND until_run <= ?`, id, last); err != nil {
		return err
	}
	return repeat(ctx, s.write, `
		DELETE FROM skips
		WHERE (run_id, path) IN (
			SELECT k.run_id, k.path
			FROM runs AS r
			JOIN skips AS k ON k.run_id = r.id
			WHERE r.repository_id = ? AND r.id < ?
			LIMIT ?)`, id, last, sweepRows)
}

// pruneRuns removes all but the newest runs and the one that readers see, which
// is the text run: it equals the published one once there is one.
func (s *Store) pruneRuns(ctx context.Context, id codesage.RepositoryID) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			DELETE FROM runs
			WHERE repository_id = ?1
				AND id NOT IN (
					SELECT id
					FROM runs
					WHERE repository_id = ?1
					ORDER BY id DESC
					LIMIT ?2)
				AND id <> (
					SELECT text_run
					FROM repositories
					WHERE id = ?1)`, id, codesage.KeepRuns)
		return err
	})
}

// sweepDeleted removes the rows of a repository that is marked as deleted.
func (s *Store) sweepDeleted(ctx context.Context, id codesage.RepositoryID) error {
	if err := sweepAll(ctx, s.write, `repository_id = ?`, id); err != nil {
		return err
	}
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `
			DELETE FROM runs
			WHERE repository_id = ?`, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			DELETE FROM repositories
			WHERE id = ? AND deleted = 1`, id)
		return err
	})
}

// repositoryIDs returns the repositories that are there, or those deleted.
func (s *Store) repositoryIDs(ctx context.Context, deleted bool) (ids []codesage.RepositoryID, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids, err = selectIDs[codesage.RepositoryID](ctx, tx, `
			SELECT id
			FROM repositories
			WHERE deleted = ?
			ORDER BY id`, deleted)
		return err
	})
	return ids, err
}

// sweepAll removes the files that fulfil a condition, with all that hangs on
// them, some at a time.
func sweepAll(ctx context.Context, in inTx, condition string, args ...any) error {
	for more := true; more; {
		err := in(ctx, func(ctx context.Context, tx *sql.Tx) error {
			ids, err := someFiles(ctx, tx, condition, args...)
			more = len(ids) > 0
			if err != nil || !more {
				return err
			}
			_, err = tx.ExecContext(ctx, `
				DELETE FROM files
				WHERE id IN (SELECT value FROM json_each(?))`, jsonList(ids))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// someFiles returns files that fulfil a condition, as many as one transaction
// may remove.
func someFiles(ctx context.Context, tx querier, condition string, args ...any) ([]codesage.FileID, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT id, size
		FROM files
		WHERE `+condition+`
		LIMIT ?`, append(args[:len(args):len(args)], sweepFiles)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []codesage.FileID
	var bytes int64
	for bytes < sweepBytes && rows.Next() {
		var id codesage.FileID
		var size int64
		if err := rows.Scan(&id, &size); err != nil {
			return nil, err
		}
		ids, bytes = append(ids, id), bytes+size
	}
	return ids, rows.Err()
}

// repeat runs a statement, each time in a transaction, until it changes nothing.
func repeat(ctx context.Context, in inTx, statement string, args ...any) error {
	for more := true; more; {
		err := in(ctx, func(ctx context.Context, tx *sql.Tx) error {
			done, err := tx.ExecContext(ctx, statement, args...)
			more = err == nil && changed(done)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// selectIDs returns the one column of a query.
func selectIDs[ID ~int64](ctx context.Context, tx querier, query string, args ...any) ([]ID, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// shrink gives free pages back to the disk once a good part of the file is free,
// some at a time.
func (s *Store) shrink(ctx context.Context) error {
	for last := -1; ; {
		var free, pages int
		err := s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if err := tx.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&free); err != nil {
				return err
			}
			return tx.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages)
		})
		if err != nil || free < shrinkPages || free < pages/4 || free == last {
			return err
		}
		last = free
		err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			rows, err := tx.QueryContext(ctx, `PRAGMA incremental_vacuum(2048)`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() { // each step frees one page
			}
			return rows.Err()
		})
		if err != nil {
			return err
		}
	}
}
