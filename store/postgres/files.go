package postgres

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
)

// visible is the condition under which snapshot $2 of repository $1 has a file f.
// Statements that find files by path, or in its order, name the start of the path
// too, since that is what the index holds.
const visible = `f.repository_id = $1 AND f.from_run <= $2 AND (f.until_run IS NULL OR f.until_run > $2)`

// parsed is the condition under which the symbol pass has been to f as snapshot
// $2 sees it.
const parsed = `f.symbols_run <= $2`

// fileColumns are the columns of a file f as snapshot $2 sees it.
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
	return []any{&f.ID, (*escaped)(&f.Path), &f.Hash, &f.Language, &f.Size, &f.Lines, &f.Generated, &f.Test, (*escaped)(&f.Stamp), &f.Parser, &f.Entities}
}

// repositoryExists fails with KindNotFound when a repository is not there.
func repositoryExists(ctx context.Context, tx pgx.Tx, id codesage.RepositoryID) error {
	var there bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM repositories
			WHERE id = $1 AND NOT deleted)`, id).Scan(&there)
	if err == nil && !there {
		err = noRepository(id)
	}
	return err
}

// readSnapshot is read for a repository that must be there.
func (s *Store) readSnapshot(ctx context.Context, sn codesage.Snapshot, fn func(tx pgx.Tx) error) error {
	return s.read(ctx, func(tx pgx.Tx) error {
		if err := repositoryExists(ctx, tx, sn.Repository); err != nil {
			return err
		}
		return fn(tx)
	})
}

// noFile is the error for a path that a snapshot does not have.
func noFile(path string) error {
	return codesage.Errorf(codesage.KindNotFound, "file '%s' not found", path)
}

// File implements store.Reader.
func (s *Store) File(ctx context.Context, sn codesage.Snapshot, path string) (t store.Text, err error) {
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		if !utf8.ValidString(path) {
			return noFile(path)
		}
		var text []byte
		err := tx.QueryRow(ctx, `
			SELECT `+fileColumns+`, t.text
			FROM files AS f
			JOIN file_texts AS t ON t.file_id = f.id
			WHERE `+visible+` AND left(f.path, 512) = left($3, 512) AND f.path = $3`,
			sn.Repository, sn.Run, escaped(path)).Scan(append(fileFields(&t.File), &text)...)
		t.Text = string(text)
		if errors.Is(err, pgx.ErrNoRows) {
			return noFile(path)
		}
		return err
	})
	return t, err
}

// ListFiles implements store.Reader.
func (s *Store) ListFiles(ctx context.Context, sn codesage.Snapshot, after string, limit int) (files []codesage.File, err error) {
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT `+fileColumns+`
			FROM files AS f
			WHERE `+visible+` AND left(f.path, 512) >= left($3, 512) AND f.path > $3
			ORDER BY left(f.path, 512), f.path
			LIMIT $4`, sn.Repository, sn.Run, escaped(after), max(0, limit))
		if err != nil {
			return err
		}
		files, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (f codesage.File, err error) {
			return f, row.Scan(fileFields(&f)...)
		})
		return err
	})
	return files, err
}

// CountFiles implements store.Reader.
func (s *Store) CountFiles(ctx context.Context, sn codesage.Snapshot) (n int, err error) {
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
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
	err := s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT file_id, text
			FROM file_texts
			WHERE file_id = ANY($1)`, int64s(ids))
		if err != nil {
			return err
		}
		var id codesage.FileID
		var text []byte
		_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
			texts[id] = string(text)
			return nil
		})
		return err
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
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		const ofRun = `run_id = (SELECT id FROM runs WHERE id = $1 AND repository_id = $2)`
		if err := tx.QueryRow(ctx, `
			SELECT COUNT(*)
			FROM skips
			WHERE `+ofRun, sn.Run, sn.Repository).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT path, reason
			FROM skips
			WHERE `+ofRun+` AND left(path, 512) >= left($3, 512) AND path > $3
			ORDER BY left(path, 512), path
			LIMIT $4`, sn.Run, sn.Repository, escaped(after), max(0, limit))
		if err != nil {
			return err
		}
		skips, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (k codesage.Skip, err error) {
			return k, row.Scan((*escaped)(&k.Path), &k.Reason)
		})
		return err
	})
	return skips, total, err
}
