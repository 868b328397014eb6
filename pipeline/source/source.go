// Package source is the contract of the places that files come from: a git
// host or a local folder. After Fetch the pipeline sees a Checkout only, so the
// rest of it is the same for every source and runs in tests on a folder of
// files.
package source

import (
	"context"

	"codesage"
)

// Source gets the files of a repository.
type Source interface {
	// Fetch makes the repository's tree readable. Errors carry a kind and a
	// message for people. The caller closes the Checkout.
	Fetch(ctx context.Context, repo codesage.Repository) (Checkout, error)
}

// Checkout is one state of a source tree. It is safe for concurrent use.
type Checkout interface {
	// Commit is the commit of the tree: 40 hex digits, or empty outside git.
	Commit() string

	// List calls file for each regular file that the source's own rules (ignore
	// files, links, submodules) let through, in byte order of the path, and skip
	// for each one that they leave out with a reason worth counting. Ignored
	// files are not reported. An error of a callback ends the list.
	List(ctx context.Context, file func(File) error, skip func(codesage.Skip) error) error

	// Read returns the bytes of a listed file; at most limit, with tooLarge set
	// when there are more. A file that has gone, or can't be opened, is an error
	// of KindNotFound or KindDenied.
	Read(ctx context.Context, f File, limit int64) (data []byte, tooLarge bool, err error)

	// Check reports whether the tree is in its place still. When it is not, files
	// that List or Read did not find may be missing for that reason, and the
	// error, of KindNotFound or KindDenied, says so to people.
	Check(ctx context.Context) error

	// Close frees the checkout and removes what it put on disk. A second call
	// does nothing.
	Close() error
}

// File is a file of a checkout, not yet read.
type File struct {
	Path  string // slash-separated, relative to the root, valid UTF-8
	Size  int64
	Hash  string // git blob hash when the source knows it unread; else empty
	Stamp string // equal stamps of one path mean equal content; empty = can't tell
}
