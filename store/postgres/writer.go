package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
)

// writer is a store.Writer. Each call is a transaction of its own that first
// makes sure that the attempt is still the live one.
type writer struct {
	s       *Store
	run     codesage.Run
	mu      sync.Mutex // calls follow each other: two could put the same path
	aborted atomic.Bool
}

// Begin implements store.Store. A base must be what the repository's readers
// see, its published or text run; any other is KindConflict. When the run itself
// has published its text in an earlier attempt, that text is withdrawn.
func (s *Store) Begin(ctx context.Context, run codesage.Run, base codesage.RunID) (store.Writer, error) {
	w := &writer{s: s, run: run}
	var shown codesage.RunID
	err := w.write(ctx, exclusive, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `
			UPDATE repositories
			SET text_run = 0
			WHERE id = $1 AND text_run = $2 AND published_run = 0`, run.Repository, run.ID); err != nil {
			return err
		}
		var text codesage.RunID
		if err := tx.QueryRow(ctx, `
			SELECT published_run, text_run
			FROM repositories
			WHERE id = $1`, run.Repository).Scan(&shown, &text); err != nil {
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
func (w *writer) write(ctx context.Context, l rowLock, fn func(tx pgx.Tx) error) error {
	if w.aborted.Load() {
		return codesage.Errorf(codesage.KindConflict, "the writer of run %d was given up", w.run.ID)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.s.write(ctx, func(tx pgx.Tx) error {
		if err := live(ctx, tx, w.run, l); err != nil {
			return err
		}
		return fn(tx)
	})
}

// Put implements store.Writer. A file put twice in one run is the later one.
func (w *writer) Put(ctx context.Context, files []store.Text) (ids []codesage.FileID, err error) {
	hashes := make([]string, len(files))
	last := make(map[string]int, len(files))
	for i, f := range files {
		hashes[i] = pathHash(f.Path)
		last[f.Path] = i
	}
	err = w.write(ctx, shared, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `
			DELETE FROM files
			WHERE repository_id = $1 AND md5(path) = ANY($2) AND until_run IS NULL AND from_run + 0 = $3`, w.run.Repository, hashes, w.run.ID); err != nil {
			return err
		}
		if err := w.end(ctx, tx, hashes); err != nil {
			return err
		}
		if ids, err = selectIDs[codesage.FileID](ctx, tx, `
			SELECT nextval(pg_get_serial_sequence('files', 'id'))
			FROM generate_series(1, $1)`, len(files)); err != nil {
			return err
		}
		return w.copyFiles(ctx, tx, files, ids, func(i int) bool { return last[files[i].Path] == i })
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// copyFiles copies those files that keep says, with their texts.
func (w *writer) copyFiles(ctx context.Context, tx pgx.Tx, files []store.Text, ids []codesage.FileID, keep func(i int) bool) error {
	var kept []int
	for i := range files {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	columns := []string{"id", "repository_id", "path", "hash", "language", "size", "lines", "generated", "test", "stamp", "from_run"}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"files"}, columns, pgx.CopyFromSlice(len(kept), func(n int) ([]any, error) {
		i, f := kept[n], &files[kept[n]]
		return []any{int64(ids[i]), int64(w.run.Repository), escaped(f.Path), f.Hash, f.Language, f.Size, f.Lines,
			f.Generated, f.Test, escaped(f.Stamp), int64(w.run.ID)}, nil
	}))
	if err != nil {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"file_texts"}, []string{"file_id", "text"}, pgx.CopyFromSlice(len(kept), func(n int) ([]any, error) {
		return []any{int64(ids[kept[n]]), []byte(files[kept[n]].Text)}, nil
	}))
	return err
}

// end ends the base's files of the paths that have these hashes. The sum keeps
// PostgreSQL from the index on from_run, which has nearly every file.
func (w *writer) end(ctx context.Context, tx pgx.Tx, hashes []string) error {
	_, err := tx.Exec(ctx, `
		UPDATE files
		SET until_run = $1
		WHERE repository_id = $2 AND md5(path) = ANY($3) AND until_run IS NULL AND from_run + 0 < $1`, w.run.ID, w.run.Repository, hashes)
	return err
}

// Remove implements store.Writer.
func (w *writer) Remove(ctx context.Context, paths []string) error {
	hashes := make([]string, len(paths))
	for i, path := range paths {
		hashes[i] = pathHash(path)
	}
	return w.write(ctx, shared, func(tx pgx.Tx) error { return w.end(ctx, tx, hashes) })
}

// Stamp implements store.Writer.
func (w *writer) Stamp(ctx context.Context, stamps map[codesage.FileID]string) error {
	var ids []int64
	var values []string
	for id, stamp := range stamps {
		ids, values = append(ids, int64(id)), append(values, escape(stamp))
	}
	return w.write(ctx, shared, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			UPDATE files AS f
			SET stamp = u.stamp
			FROM unnest($1::BIGINT[], $2::TEXT[]) AS u (id, stamp)
			WHERE f.id = u.id AND f.repository_id = $3`, ids, values, w.run.Repository)
		return err
	})
}

// PutSkips implements store.Writer. A path has one reason, the last one given.
func (w *writer) PutSkips(ctx context.Context, skips []codesage.Skip) error {
	last := make(map[string]codesage.SkipReason, len(skips))
	for _, k := range skips {
		last[k.Path] = k.Reason
	}
	var paths, reasons []string
	for path, reason := range last {
		paths, reasons = append(paths, escape(path)), append(reasons, string(reason))
	}
	return w.write(ctx, shared, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO skips (run_id, path, reason)
			SELECT $1, u.path, u.reason
			FROM unnest($2::TEXT[], $3::TEXT[]) AS u (path, reason)
			ON CONFLICT (run_id, md5(path)) DO UPDATE SET reason = excluded.reason`, w.run.ID, paths, reasons)
		return err
	})
}

// PublishText implements store.Writer.
func (w *writer) PublishText(ctx context.Context) error {
	return w.write(ctx, exclusive, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `
			UPDATE repositories
			SET text_run = $1, updated_at = clock_timestamp()
			WHERE id = $2 AND source = $3 AND published_run = 0`,
			w.run.ID, w.run.Repository, codesage.SourceFolder)
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
	return w.write(ctx, exclusive, func(tx pgx.Tx) error {
		var files, entities int
		if err := tx.QueryRow(ctx, `
			SELECT COUNT(*), COALESCE(SUM(CASE WHEN `+parsed+` THEN f.entities ELSE 0 END), 0)
			FROM files AS f
			WHERE `+visible, w.run.Repository, w.run.ID).Scan(&files, &entities); err != nil {
			return err
		}
		if err := report(ctx, tx, w.run, o.Progress); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			UPDATE runs
			SET status = $1, total_files = $2, processed_files = $2, entities = $3,
				language = $4, framework = $5, notice = $6, skipped = $7, finished_at = clock_timestamp()
			WHERE id = $8`,
			codesage.StatusCompleted, files, entities,
			o.Language, o.Framework, escaped(o.Notice), string(skipped), w.run.ID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			UPDATE repositories
			SET published_run = $1, text_run = $1, updated_at = clock_timestamp()
			WHERE id = $2`, w.run.ID, w.run.Repository)
		if err != nil {
			return err
		}
		return showOrigin(ctx, tx, w.run.ID)
	})
}

// Abort implements store.Writer.
func (w *writer) Abort() { w.aborted.Store(true) }
