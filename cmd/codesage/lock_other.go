//go:build !unix

package main

import "os"

// lockFile knows no lock here: SQLite's own still keeps the database whole.
func lockFile(*os.File, lockKind) error { return nil }
