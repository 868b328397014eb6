package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"codesage"
	"codesage/store"
)

// PutSymbols implements store.Writer. Symbols put twice in one run for one file
// are the later ones. Those of a base's file are not visible before this run is.
func (w *writer) PutSymbols(ctx context.Context, symbols []store.Symbols) error {
	outer := ctx
	return w.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, `
			INSERT INTO entities (
				file_id, type, name, name_folded, description, signature,
				line_start, line_end, start_byte, end_byte, name_line)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, y := range symbols {
			if err := outer.Err(); err != nil {
				return err
			}
			if err := w.markParsed(ctx, tx, y); err != nil {
				return err
			}
			if err := insertEntities(ctx, insert, y); err != nil {
				return err
			}
			if !y.HasSpans {
				continue
			}
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO spans (file_id, data)
				VALUES (?, ?)`, y.File, store.EncodeSpans(y.Spans)); err != nil {
				return err
			}
		}
		return nil
	})
}

// markParsed writes to a file's row that this run parsed it, and removes what an
// earlier call of this run found.
func (w *writer) markParsed(ctx context.Context, tx *sql.Tx, y store.Symbols) error {
	var again bool
	err := tx.QueryRowContext(ctx, `
		SELECT COALESCE(symbols_run, 0) = ?
		FROM files
		WHERE id = ?`, w.run.ID, y.File).Scan(&again)
	if err == nil && again {
		err = clearSymbols(ctx, tx, []codesage.FileID{y.File})
	}
	if err != nil {
		return fmt.Errorf("store symbols of file %d: %w", y.File, err)
	}
	done, err := tx.ExecContext(ctx, `
		UPDATE files
		SET symbols_run = ?, parser = ?, entities = ?
		WHERE id = ? AND repository_id = ? AND until_run IS NULL AND symbols_run IS NULL`,
		w.run.ID, y.Parser, len(y.Entities), y.File, w.run.Repository)
	if err == nil && !changed(done) {
		err = fmt.Errorf("store symbols of file %d: it is not in this run, or has symbols", y.File)
	}
	return err
}

func insertEntities(ctx context.Context, insert *sql.Stmt, y store.Symbols) error {
	for _, e := range y.Entities {
		if _, err := insert.ExecContext(ctx, y.File, e.Type, e.Name, store.Fold(e.Name), e.Description, e.Signature,
			e.LineStart, e.LineEnd, e.StartByte, e.EndByte, e.NameLine); err != nil {
			return err
		}
	}
	return nil
}

// clearSymbols makes files as if the symbol pass had not been there.
func clearSymbols(ctx context.Context, tx *sql.Tx, ids []codesage.FileID) error {
	list := jsonList(ids)
	for _, statement := range []string{
		`DELETE FROM entities WHERE file_id IN (SELECT value FROM json_each(?))`,
		`DELETE FROM spans WHERE file_id IN (SELECT value FROM json_each(?))`,
		`UPDATE files SET symbols_run = NULL, parser = 0, entities = 0 WHERE id IN (SELECT value FROM json_each(?))`,
	} {
		if _, err := tx.ExecContext(ctx, statement, list); err != nil {
			return err
		}
	}
	return nil
}
