package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"unicode/utf8"

	"codesage"
	"codesage/store"
)

// entityColumns are the columns of an entity e.
const entityColumns = `e.id, e.type, e.name, e.description, e.signature,
			e.line_start, e.line_end, e.start_byte, e.end_byte, e.name_line`

// entityFields are where the columns of an entity go.
func entityFields(e *codesage.Entity) []any {
	return []any{&e.ID, &e.Type, &e.Name, &e.Description, &e.Signature, &e.LineStart, &e.LineEnd, &e.StartByte, &e.EndByte, &e.NameLine}
}

// ListEntities implements store.Reader.
func (s *Store) ListEntities(ctx context.Context, sn codesage.Snapshot, f store.EntityFilter) (found []store.Located, total int, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
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

// fromMatching joins the entities e to their files f and keeps those that match;
// CROSS JOIN makes SQLite go through the files in the order of their paths.
const fromMatching = `
		FROM files AS f
		CROSS JOIN entities AS e ON e.file_id = f.id
		WHERE ` + visible + ` AND ` + parsed + `
			AND f.path >= ?3 AND (?4 = '' OR f.path < ?4)
			AND (?5 = '' OR e.type = ?5)
			AND (?6 = '' OR instr(e.name_folded, ?6) > 0)`

// matchArgs are the arguments of fromMatching.
func matchArgs(sn codesage.Snapshot, f store.EntityFilter) []any {
	end, _ := store.PrefixEnd(f.PathPrefix)
	return []any{sn.Repository, sn.Run, f.PathPrefix, end, f.Type, store.Fold(f.Name)}
}

func countEntities(ctx context.Context, tx querier, sn codesage.Snapshot, f store.EntityFilter) (n int, err error) {
	args := matchArgs(sn, f)
	if f.Type == "" && f.Name == "" {
		err = tx.QueryRowContext(ctx, `
			SELECT COALESCE(SUM(f.entities), 0)
			FROM files AS f
			WHERE `+visible+` AND `+parsed+`
				AND f.path >= ?3 AND (?4 = '' OR f.path < ?4)`, args[:4]...).Scan(&n)
		return n, err
	}
	err = tx.QueryRowContext(ctx, `
		SELECT COUNT(*)`+fromMatching, args...).Scan(&n)
	return n, err
}

func selectEntities(ctx context.Context, tx querier, sn codesage.Snapshot, f store.EntityFilter) ([]store.Located, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT f.path, f.language, `+entityColumns+fromMatching+`
		ORDER BY f.path, e.line_start, e.id
		LIMIT ?7`, append(matchArgs(sn, f), f.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []store.Located
	for rows.Next() {
		var l store.Located
		if err := rows.Scan(append([]any{&l.Path, &l.Language}, entityFields(&l.Entity)...)...); err != nil {
			return nil, err
		}
		found = append(found, l)
	}
	return found, rows.Err()
}

// symbolsOf returns the id of a path's file, and whether the symbol pass has
// been there; KindNotFound when the snapshot has no such file.
func symbolsOf(ctx context.Context, tx querier, sn codesage.Snapshot, path string) (id codesage.FileID, parsed bool, err error) {
	err = tx.QueryRowContext(ctx, `
		SELECT f.id, COALESCE(f.symbols_run <= ?2, 0)
		FROM files AS f
		WHERE `+visible+` AND f.path = ?3`, sn.Repository, sn.Run, path).Scan(&id, &parsed)
	if errors.Is(err, sql.ErrNoRows) {
		err = noFile(path)
	}
	return id, parsed, err
}

// FileEntities implements store.Reader.
func (s *Store) FileEntities(ctx context.Context, sn codesage.Snapshot, path string) (found []codesage.Entity, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
		id, parsed, err := symbolsOf(ctx, tx, sn, path)
		if err != nil || !parsed {
			return err
		}
		rows, err := tx.QueryContext(ctx, `
			SELECT `+entityColumns+`
			FROM entities AS e
			WHERE e.file_id = ?
			ORDER BY e.line_start, e.id`, id)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e codesage.Entity
			if err := rows.Scan(entityFields(&e)...); err != nil {
				return err
			}
			found = append(found, e)
		}
		return rows.Err()
	})
	return found, err
}

// Spans implements store.Reader.
func (s *Store) Spans(ctx context.Context, sn codesage.Snapshot, path string) (spans []codesage.Span, ok bool, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
		id, parsed, err := symbolsOf(ctx, tx, sn, path)
		if err != nil || !parsed {
			return err
		}
		var data []byte
		err = tx.QueryRowContext(ctx, `
			SELECT data
			FROM spans
			WHERE file_id = ?`, id).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
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
