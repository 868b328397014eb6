package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"codesage"
	"codesage/store"
)

// writer is a store.Writer. Each call is a transaction of its own that first
// makes sure that the attempt is still the live one.
type writer struct {
	s       *Store
	run     codesage.Run
	aborted atomic.Bool
}

// Begin implements store.Store. A base must be what the repository's readers
// see, its published or text run; any other is KindConflict. When the run itself
// has published its text in an earlier attempt, that text is withdrawn.
func (s *Store) Begin(ctx context.Context, run codesage.Run, base codesage.RunID) (store.Writer, error) {
	w := &writer{s: s, run: run}
	var shown codesage.RunID
	err := w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `
			UPDATE repositories
			SET text_run = 0
			WHERE id = ? AND text_run = ? AND published_run = 0`, run.Repository, run.ID); err != nil {
			return err
		}
		var text codesage.RunID
		if err := tx.QueryRowContext(ctx, `
			SELECT published_run, text_run
			FROM repositories
			WHERE id = ?`, run.Repository).Scan(&shown, &text); err != nil {
			return err
		}
		if shown == 0 {
			shown = text
		}
		if base != 0 && base != shown {
			return codesage.Errorf(codesage.KindConflict, "run %d can't start from run %d: readers see run %d", run.ID, base, shown)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := w.sweepLeftovers(ctx, shown); err != nil {
		return nil, fmt.Errorf("remove what earlier runs left: %w", err)
	}
	if base == 0 && shown != 0 {
		if err := w.endAll(ctx); err != nil {
			return nil, fmt.Errorf("end the files of run %d: %w", shown, err)
		}
	}
	return w, nil
}

// write runs fn in a transaction when the attempt is the live one.
func (w *writer) write(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	if w.aborted.Load() {
		return codesage.Errorf(codesage.KindConflict, "the writer of run %d was given up", w.run.ID)
	}
	return w.s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := live(ctx, tx, w.run); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// Put implements store.Writer. A file put twice in one run is the later one.
func (w *writer) Put(ctx context.Context, files []store.Text) (ids []codesage.FileID, err error) {
	outer := ctx
	err = w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids = make([]codesage.FileID, 0, len(files))
		for _, f := range files {
			if err := outer.Err(); err != nil {
				return err
			}
			id, err := w.put(ctx, tx, f)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

func (w *writer) put(ctx context.Context, tx *sql.Tx, f store.Text) (id codesage.FileID, err error) {
	if _, err := tx.ExecContext(ctx, `
		DELETE FROM files
		WHERE repository_id = ? AND path = ? AND from_run = ?`, w.run.Repository, f.Path, w.run.ID); err != nil {
		return 0, err
	}
	if err := w.end(ctx, tx, f.Path); err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, `
		INSERT INTO files (repository_id, path, hash, language, size, lines, generated, test, stamp, from_run)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		RETURNING id`,
		w.run.Repository, f.Path, f.Hash, f.Language, f.Size, f.Lines, f.Generated, f.Test, f.Stamp, w.run.ID).Scan(&id); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO file_texts (file_id, text)
		VALUES (?, ?)`, id, f.Text)
	return id, err
}

// end ends the base's file of a path.
func (w *writer) end(ctx context.Context, tx *sql.Tx, path string) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE files
		SET until_run = ?1
		WHERE repository_id = ?2 AND path = ?3 AND until_run IS NULL AND from_run < ?1`, w.run.ID, w.run.Repository, path)
	return err
}

// Remove implements store.Writer.
func (w *writer) Remove(ctx context.Context, paths []string) error {
	return w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, path := range paths {
			if err := w.end(ctx, tx, path); err != nil {
				return err
			}
		}
		return nil
	})
}

// Stamp implements store.Writer.
func (w *writer) Stamp(ctx context.Context, stamps map[codesage.FileID]string) error {
	return w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for id, stamp := range stamps {
			if _, err := tx.ExecContext(ctx, `
				UPDATE files
				SET stamp = ?
				WHERE id = ? AND repository_id = ?`, stamp, id, w.run.Repository); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutSkips implements store.Writer. A path has one reason, the last one given.
func (w *writer) PutSkips(ctx context.Context, skips []codesage.Skip) error {
	return w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, k := range skips {
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO skips (run_id, path, reason)
				VALUES (?, ?, ?)
				ON CONFLICT (run_id, path) DO UPDATE SET reason = excluded.reason`, w.run.ID, k.Path, k.Reason); err != nil {
				return err
			}
		}
		return nil
	})
}

// PublishText implements store.Writer.
func (w *writer) PublishText(ctx context.Context) error {
	return w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `
			UPDATE repositories
			SET text_run = ?, updated_at = ?
			WHERE id = ? AND source = ? AND published_run = 0`,
			w.run.ID, micros(now()), w.run.Repository, codesage.SourceFolder)
		if err == nil && !changed(done) {
			err = errors.New("text is published apart for the first index of a folder only")
		}
		if err != nil {
			return err
		}
		return showOrigin(ctx, tx, w.run.ID)
	})
}

// Publish implements store.Writer. The run's numbers of files and entities are
// counted from the rows.
func (w *writer) Publish(ctx context.Context, o codesage.Outcome) error {
	skipped, err := json.Marshal(o.Skipped)
	if err != nil {
		return fmt.Errorf("encode skipped: %w", err)
	}
	return w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var files, entities int
		if err := tx.QueryRowContext(ctx, `
			SELECT COUNT(*), COALESCE(SUM(CASE WHEN `+parsed+` THEN f.entities ELSE 0 END), 0)
			FROM files AS f
			WHERE `+visible, w.run.Repository, w.run.ID).Scan(&files, &entities); err != nil {
			return err
		}
		if err := report(ctx, tx, w.run, o.Progress); err != nil {
			return err
		}
		at := micros(now())
		if _, err := tx.ExecContext(ctx, `
			UPDATE runs
			SET status = ?, total_files = ?, processed_files = ?, entities = ?,
				language = ?, framework = ?, notice = ?, skipped = ?, finished_at = ?
			WHERE id = ?`,
			codesage.StatusCompleted, files, files, entities,
			o.Language, o.Framework, o.Notice, string(skipped), at, w.run.ID); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			UPDATE repositories
			SET published_run = ?1, text_run = ?1, updated_at = ?2
			WHERE id = ?3`, w.run.ID, at, w.run.Repository)
		if err != nil {
			return err
		}
		return showOrigin(ctx, tx, w.run.ID)
	})
}

// Abort implements store.Writer.
func (w *writer) Abort() { w.aborted.Store(true) }
