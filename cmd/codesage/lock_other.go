//go:build !unix

package main

import "os"

// privateFiles has nothing to do here: rights come from the folder.
func privateFiles() {}

// isOpenToOthers can't be told here.
func isOpenToOthers(os.FileInfo) bool { return false }

// lockFile knows no lock here: SQLite's own still keeps the database whole.
func lockFile(*os.File, lockKind) error { return nil }
