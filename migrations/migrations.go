// Package migrations holds the schema of the store, as numbered files for goose:
// one folder for each database, with the same numbers and names in both. A file
// is never edited once it has been released; a change is a new number.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// SQLite returns the migrations of the SQLite schema.
func SQLite() fs.FS { return sub("sqlite") }

// Postgres returns the migrations of the Postgres schema.
func Postgres() fs.FS { return sub("postgres") }

func sub(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // only for a name that is no valid path
	}
	return f
}
