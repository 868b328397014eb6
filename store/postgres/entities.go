package postgres

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
)

// entityColumns are the columns of an entity e.
const entityColumns = `e.id, e.type, e.name, e.description, e.signature,
			e.line_start, e.line_end, e.start_byte, e.end_byte, e.name_line`

// entityFields are where the columns of an entity go.
func entityFields(e *codesage.Entity) []any {
	return []any{&e.ID, &e.Type, (*escaped)(&e.Name), (*escaped)(&e.Description), (*escaped)(&e.Signature),
		&e.LineStart, &e.LineEnd, &e.StartByte, &e.EndByte, &e.NameLine}
}

// ListEntities implements store.Reader.
func (s *Store) ListEntities(ctx context.Context, sn codesage.Snapshot, f store.EntityFilter) (found []store.Located, total int, err error) {
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		if !utf8.ValidString(f.PathPrefix) {
			return nil // no path begins with it
		}
		if total, err = countEntities(ctx, tx, sn, f); err != nil || total == 0 || f.Limit <= 0 {
			return err
		}
		found, err = selectEntities(ctx, tx, sn, f)
		return err
	})
	return found, total, err
}

// fromMatching joins the entities e to their files f and keeps those that match.
const fromMatching = `
		FROM files AS f
		JOIN entities AS e ON e.file_id = f.id
		WHERE ` + visible + ` AND ` + parsed + `
			AND left(f.path, 512) >= left($3, 512) AND f.path >= $3 AND ($4 = '' OR f.path < $4)
			AND ($5 = '' OR e.type = $5)
			AND ($6 = '' OR strpos(e.name_folded, $6) > 0)`

// matchArgs are the arguments of fromMatching.
func matchArgs(sn codesage.Snapshot, f store.EntityFilter) []any {
	end, _ := store.PrefixEnd(f.PathPrefix)
	return []any{sn.Repository, sn.Run, escaped(f.PathPrefix), escaped(end), escaped(f.Type), escaped(store.Fold(f.Name))}
}

func countEntities(ctx context.Context, tx pgx.Tx, sn codesage.Snapshot, f store.EntityFilter) (n int, err error) {
	args := matchArgs(sn, f)
	if f.Type == "" && f.Name == "" {
		err = tx.QueryRow(ctx, `
			SELECT COALESCE(SUM(f.entities), 0)
			FROM files AS f
			WHERE `+visible+` AND `+parsed+`
				AND left(f.path, 512) >= left($3, 512) AND f.path >= $3 AND ($4 = '' OR f.path < $4)`, args[:4]...).Scan(&n)
		return n, err
	}
	err = tx.QueryRow(ctx, `
		SELECT COUNT(*)`+fromMatching, args...).Scan(&n)
	return n, err
}

func selectEntities(ctx context.Context, tx pgx.Tx, sn codesage.Snapshot, f store.EntityFilter) ([]store.Located, error) {
	rows, err := tx.Query(ctx, `
		SELECT f.path, f.language, `+entityColumns+fromMatching+`
		ORDER BY left(f.path, 512), f.path, e.line_start, e.id
		LIMIT $7`, append(matchArgs(sn, f), f.Limit)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l store.Located, err error) {
		return l, row.Scan(append([]any{(*escaped)(&l.Path), &l.Language}, entityFields(&l.Entity)...)...)
	})
}

// symbolsOf returns the id of a path's file, and whether the symbol pass has
// been there; KindNotFound when the snapshot has no such file.
func symbolsOf(ctx context.Context, tx pgx.Tx, sn codesage.Snapshot, path string) (id codesage.FileID, been bool, err error) {
	if !utf8.ValidString(path) {
		return 0, false, noFile(path)
	}
	err = tx.QueryRow(ctx, `
		SELECT f.id, COALESCE(`+parsed+`, FALSE)
		FROM files AS f
		WHERE `+visible+` AND left(f.path, 512) = left($3, 512) AND f.path = $3`, sn.Repository, sn.Run, escaped(path)).Scan(&id, &been)
	if errors.Is(err, pgx.ErrNoRows) {
		err = noFile(path)
	}
	return id, been, err
}

// FileEntities implements store.Reader.
func (s *Store) FileEntities(ctx context.Context, sn codesage.Snapshot, path string) (found []codesage.Entity, err error) {
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		id, been, err := symbolsOf(ctx, tx, sn, path)
		if err != nil || !been {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT `+entityColumns+`
			FROM entities AS e
			WHERE e.file_id = $1
			ORDER BY e.line_start, e.id`, id)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e codesage.Entity, err error) {
			return e, row.Scan(entityFields(&e)...)
		})
		return err
	})
	return found, err
}

// Spans implements store.Reader.
func (s *Store) Spans(ctx context.Context, sn codesage.Snapshot, path string) (spans []codesage.Span, ok bool, err error) {
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		id, been, err := symbolsOf(ctx, tx, sn, path)
		if err != nil || !been {
			return err
		}
		var data []byte
		err = tx.QueryRow(ctx, `
			SELECT data
			FROM spans
			WHERE file_id = $1`, id).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if spans, err = store.DecodeSpans(data); err != nil {
			return fmt.Errorf("read spans of %s: %w", path, err)
		}
		ok = true
		return nil
	})
	return spans, ok, err
}
