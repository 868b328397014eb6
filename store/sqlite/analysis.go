package sqlite

import (
	"context"
	"database/sql"

	"codesage"
	"codesage/store"
)

// Analyze implements store.Reader.
func (s *Store) Analyze(ctx context.Context, sn codesage.Snapshot) (a store.Analysis, err error) {
	err = s.readSnapshot(ctx, sn, func(ctx context.Context, tx *sql.Tx) error {
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
func scanFiles(ctx context.Context, tx querier, sn codesage.Snapshot, z *store.Analyzer) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT f.path, f.language, f.lines,
			CASE WHEN `+parsed+` THEN f.entities ELSE 0 END
		FROM files AS f
		WHERE `+visible, sn.Repository, sn.Run)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var f codesage.File
		if err := rows.Scan(&f.Path, &f.Language, &f.Lines, &f.Entities); err != nil {
			return err
		}
		z.Add(f)
	}
	return rows.Err()
}

// countTypes counts the entities of a snapshot by type.
func countTypes(ctx context.Context, tx querier, sn codesage.Snapshot) (map[codesage.EntityType]int, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT e.type, COUNT(*)
		FROM files AS f
		CROSS JOIN entities AS e ON e.file_id = f.id
		WHERE `+visible+` AND `+parsed+`
		GROUP BY e.type`, sn.Repository, sn.Run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	byType := map[codesage.EntityType]int{}
	for rows.Next() {
		var t codesage.EntityType
		var n int
		if err := rows.Scan(&t, &n); err != nil {
			return nil, err
		}
		byType[t] = n
	}
	return byType, rows.Err()
}
