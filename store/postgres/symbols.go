package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
)

// PutSymbols implements store.Writer. Symbols put twice in one run for one file
// are the later ones. Those of a base's file are not visible before this run is.
func (w *writer) PutSymbols(ctx context.Context, symbols []store.Symbols) error {
	if len(symbols) == 0 {
		return w.write(ctx, shared, func(pgx.Tx) error { return nil })
	}
	last := make(map[codesage.FileID]int, len(symbols))
	for i, y := range symbols {
		last[y.File] = i
	}
	var kept []store.Symbols
	for i, y := range symbols {
		if last[y.File] == i {
			kept = append(kept, y)
		}
	}
	return w.write(ctx, shared, func(tx pgx.Tx) error {
		if err := w.markParsed(ctx, tx, kept); err != nil {
			return err
		}
		if err := copyEntities(ctx, tx, kept); err != nil {
			return err
		}
		return copySpans(ctx, tx, kept)
	})
}

// markParsed writes to the files' rows that this run parsed them, and removes
// what an earlier call of this run found.
func (w *writer) markParsed(ctx context.Context, tx pgx.Tx, symbols []store.Symbols) error {
	ids, parsers, entities := make([]int64, len(symbols)), make([]int64, len(symbols)), make([]int64, len(symbols))
	for i, y := range symbols {
		ids[i], parsers[i], entities[i] = int64(y.File), int64(y.Parser), int64(len(y.Entities))
	}
	again, err := selectIDs[codesage.FileID](ctx, tx, `
		SELECT id
		FROM files
		WHERE id = ANY($1) AND symbols_run = $2`, ids, w.run.ID)
	if err == nil && len(again) > 0 {
		err = clearSymbols(ctx, tx, again)
	}
	if err != nil {
		return err
	}
	done, err := tx.Exec(ctx, `
		UPDATE files AS f
		SET symbols_run = $1, parser = u.parser, entities = u.entities
		FROM unnest($2::BIGINT[], $3::BIGINT[], $4::BIGINT[]) AS u (id, parser, entities)
		WHERE f.id = u.id AND f.repository_id = $5 AND f.until_run IS NULL AND f.symbols_run IS NULL`,
		w.run.ID, ids, parsers, entities, w.run.Repository)
	if err == nil && done.RowsAffected() != int64(len(symbols)) {
		err = fmt.Errorf("store symbols of %d files: %d are not in this run, or have symbols", len(symbols), int64(len(symbols))-done.RowsAffected())
	}
	return err
}

func copyEntities(ctx context.Context, tx pgx.Tx, symbols []store.Symbols) error {
	columns := []string{"file_id", "type", "name", "name_folded", "description", "signature",
		"line_start", "line_end", "start_byte", "end_byte", "name_line"}
	file, next := 0, 0
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"entities"}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		for file < len(symbols) && next == len(symbols[file].Entities) {
			file, next = file+1, 0
		}
		if file == len(symbols) {
			return nil, nil
		}
		e := &symbols[file].Entities[next]
		next++
		return []any{int64(symbols[file].File), string(e.Type), escaped(e.Name), escaped(store.Fold(e.Name)), escaped(e.Description), escaped(e.Signature),
			e.LineStart, e.LineEnd, e.StartByte, e.EndByte, e.NameLine}, nil
	}))
	return err
}

func copySpans(ctx context.Context, tx pgx.Tx, symbols []store.Symbols) error {
	at := 0
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"spans"}, []string{"file_id", "data"}, pgx.CopyFromFunc(func() ([]any, error) {
		for at < len(symbols) && !symbols[at].HasSpans {
			at++
		}
		if at == len(symbols) {
			return nil, nil
		}
		y := &symbols[at]
		at++
		return []any{int64(y.File), store.EncodeSpans(y.Spans)}, nil
	}))
	return err
}

// clearSymbols makes files as if the symbol pass had not been there.
func clearSymbols(ctx context.Context, tx pgx.Tx, ids []codesage.FileID) error {
	list := int64s(ids)
	for _, statement := range []string{
		`DELETE FROM entities WHERE file_id = ANY($1)`,
		`DELETE FROM spans WHERE file_id = ANY($1)`,
		`UPDATE files SET symbols_run = NULL, parser = 0, entities = 0 WHERE id = ANY($1)`,
	} {
		if _, err := tx.Exec(ctx, statement, list); err != nil {
			return err
		}
	}
	return nil
}
