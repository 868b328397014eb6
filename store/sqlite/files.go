package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"codesage"
	"codesage/store"
)

// visible is the condition under which snapshot ?2 of repository ?1 has a file f.
// The plus signs keep SQLite from the indexes on these columns, which serve
// clean-ups: files are found by path, and come in its order.
const visible = `f.repository_id = ?1 AND +f.from_run <= ?2 AND (f.until_run IS NULL OR f.until_run > ?2)`

// parsed is the condition under which the symbol pass has been to f as snapshot
// ?2 sees it.
const parsed = `+f.symbols_run <= ?2`

// fileColumns are the columns of a file f as snapshot ?2 sees it.
const fileColumns = `f.id, f.path, f.hash, f.language, f.size, f.lines, f.generated, f.test, f.stamp,
			CASE WHEN ` + parsed + ` THEN f.parser ELSE 0 END,
			CASE WHEN ` + parsed + ` THEN f.entities ELSE 0 END`

// How many files a page of a scan has, and how many texts, of how many bytes
// unless one text alone has more, are in memory at once.
const (
	pageFiles = 512
	pageTexts = 128
	pageBytes = 4 << 20
)

// fileFields are where the columns of a file go.
func fileFields(f *codesage.File) []any {
	return []any{&f.ID, &f.Path, &f.Hash, &f.Language, &f.Size, &f.Lines, &f.Generated, &f.Test, &f.Stamp, &f.Parser, &f.Entities}
}

// repositoryExists fails with KindNotFound when a repository is not there.
func repositoryExists(ctx context.Context, tx querier, id codesage.RepositoryID) error {
	var there bool
	err := tx.QueryRowContext(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM repositories
			WHERE id = ? AND deleted = 0)`, id).Scan(&there)
	if err == nil && !there {
		err = noRepository(id)
	}
	return err
}

// readSnapshot is read for a repository that must be there.
func (s *Store) readSnapshot(ctx context.Context, sn codesage.Snapshot, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := repositoryExists(ctx, tx, sn.Repository); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// noFile is the error for a path that a snapshot does not have.
func noFile(path string) error {
	return codesage.Errorf(codesage.KindNotFound, "file '%s' not found", path)
}

// File implements store.Reader.
func (s *Store) File(ctx context.Context, sn codesage.Snapshot, path string) (t store.Text, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `
			SELECT `+fileColumns+`, t.text
			FROM files AS f
			JOIN file_texts AS t ON t.file_id = f.id
			WHERE `+visible+` AND f.path = ?3`,
			sn.Repository, sn.Run, path).Scan(append(fileFields(&t.File), &t.Text)...)
		if errors.Is(err, sql.ErrNoRows) {
			return noFile(path)
		}
		return err
	})
	return t, err
}

// ListFiles implements store.Reader.
func (s *Store) ListFiles(ctx context.Context, sn codesage.Snapshot, after string, limit int) (files []codesage.File, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			SELECT `+fileColumns+`
			FROM files AS f
			WHERE `+visible+` AND f.path > ?3
			ORDER BY f.path
			LIMIT ?4`, sn.Repository, sn.Run, after, max(0, limit))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var f codesage.File
			if err := rows.Scan(fileFields(&f)...); err != nil {
				return err
			}
			files = append(files, f)
		}
		return rows.Err()
	})
	return files, err
}

// CountFiles implements store.Reader.
func (s *Store) CountFiles(ctx context.Context, sn codesage.Snapshot) (n int, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			SELECT COUNT(*)
			FROM files AS f
			WHERE `+visible, sn.Repository, sn.Run).Scan(&n)
	})
	return n, err
}

// Texts implements store.Reader. It holds no connection while fn runs, so fn may
// take its time and may use the store.
func (s *Store) Texts(ctx context.Context, sn codesage.Snapshot, after string, want func(codesage.File) bool, fn func(store.Text) error) error {
	for {
		files, err := s.ListFiles(ctx, sn, after, pageFiles)
		if err != nil {
			return err
		}
		var batch []codesage.File
		var bytes int64
		for _, f := range files {
			if want != nil && !want(f) {
				continue
			}
			if len(batch) == pageTexts || len(batch) > 0 && bytes+f.Size > pageBytes {
				if err := s.passTexts(ctx, sn, batch, fn); err != nil {
					return err
				}
				batch, bytes = batch[:0], 0
			}
			batch, bytes = append(batch, f), bytes+f.Size
		}
		if err := s.passTexts(ctx, sn, batch, fn); err != nil {
			return err
		}
		if len(files) < pageFiles {
			return nil
		}
		after = files[len(files)-1].Path
	}
}

// passTexts reads the texts of files and calls fn for each.
func (s *Store) passTexts(ctx context.Context, sn codesage.Snapshot, files []codesage.File, fn func(store.Text) error) error {
	if len(files) == 0 {
		return ctx.Err()
	}
	texts := make(map[codesage.FileID]string, len(files))
	ids := make([]codesage.FileID, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	err := s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			SELECT file_id, text
			FROM file_texts
			WHERE file_id IN (SELECT value FROM json_each(?))`, jsonList(ids))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id codesage.FileID
			var text string
			if err := rows.Scan(&id, &text); err != nil {
				return err
			}
			texts[id] = text
		}
		return rows.Err()
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		text, ok := texts[f.ID]
		if !ok {
			return noFile(f.Path) // pruned since the page was read: the snapshot is too old
		}
		delete(texts, f.ID)
		if err := fn(store.Text{File: f, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// ListSkips implements store.Reader.
func (s *Store) ListSkips(ctx context.Context, sn codesage.Snapshot, after string, limit int) (skips []codesage.Skip, total int, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
		const ofRun = `run_id = (SELECT id FROM runs WHERE id = ?1 AND repository_id = ?2)`
		if err := tx.QueryRowContext(ctx, `
			SELECT COUNT(*)
			FROM skips
			WHERE `+ofRun, sn.Run, sn.Repository).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `
			SELECT path, reason
			FROM skips
			WHERE `+ofRun+` AND path > ?3
			ORDER BY path
			LIMIT ?4`, sn.Run, sn.Repository, after, max(0, limit))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var k codesage.Skip
			if err := rows.Scan(&k.Path, &k.Reason); err != nil {
				return err
			}
			skips = append(skips, k)
		}
		return rows.Err()
	})
	return skips, total, err
}
