// Package migrations holds the schema of the store, as numbered files for goose:
// one folder for each database, with the same numbers and names in both. A file
// is never edited once it has been released; a change is a new number.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// SQLite returns the migrations of the SQLite schema.
func SQLite() fs.FS { return sub("sqlite") }

// Postgres returns the migrations of the Postgres schema.
func Postgres() fs.FS { return sub("postgres") }

// Newest returns the number of the last migration of a schema.
func Newest(schema fs.FS) (int64, error) {
	names, err := fs.Glob(schema, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	number, _, _ := strings.Cut(names[len(names)-1], "_")
	return strconv.ParseInt(number, 10, 64)
}

func sub(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // only for a name that is no valid path
	}
	return f
}
