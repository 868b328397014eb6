package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
)

// Analyze implements store.Reader.
func (s *Store) Analyze(ctx context.Context, sn codesage.Snapshot) (a store.Analysis, err error) {
	err = s.readSnapshot(ctx, sn, func(tx pgx.Tx) error {
		var z store.Analyzer
		if err := scanFiles(ctx, tx, sn, &z); err != nil {
			return err
		}
		byType, err := countTypes(ctx, tx, sn)
		a = z.Analysis(byType)
		return err
	})
	return a, err
}

// scanFiles shows every file of a snapshot to z.
func scanFiles(ctx context.Context, tx pgx.Tx, sn codesage.Snapshot, z *store.Analyzer) error {
	rows, err := tx.Query(ctx, `
		SELECT f.path, f.language, f.lines,
			CASE WHEN `+parsed+` THEN f.entities ELSE 0 END
		FROM files AS f
		WHERE `+visible, sn.Repository, sn.Run)
	if err != nil {
		return err
	}
	var f codesage.File
	_, err = pgx.ForEachRow(rows, []any{(*escaped)(&f.Path), &f.Language, &f.Lines, &f.Entities}, func() error {
		z.Add(f)
		return nil
	})
	return err
}

// countTypes counts the entities of a snapshot by type.
func countTypes(ctx context.Context, tx pgx.Tx, sn codesage.Snapshot) (map[codesage.EntityType]int, error) {
	rows, err := tx.Query(ctx, `
		SELECT e.type, COUNT(*)
		FROM files AS f
		JOIN entities AS e ON e.file_id = f.id
		WHERE `+visible+` AND `+parsed+`
		GROUP BY e.type`, sn.Repository, sn.Run)
	if err != nil {
		return nil, err
	}
	byType := map[codesage.EntityType]int{}
	var t codesage.EntityType
	var n int
	_, err = pgx.ForEachRow(rows, []any{&t, &n}, func() error {
		byType[t] = n
		return nil
	})
	return byType, err
}
