package git

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codesage"
	"codesage/pipeline/source"
)

// maxCommitBytes is more than any commit object needs.
const maxCommitBytes = 1 << 20

var errIncomplete = errors.New("the host left out objects of the commit")

// checkout is the tree of one commit. It is safe for concurrent use: the
// objects lie in one file, which is read by position.
type checkout struct {
	commit  string
	tree    plumbing.Hash
	objects *objects

	mu     sync.RWMutex // held for reading by reads, for writing by Close
	closed bool
}

// errClosed is what a closed checkout answers.
var errClosed = errors.New("the checkout is closed")

// findTree reads the commit.
func (c *checkout) findTree() error {
	e, ok := c.objects.find(plumbing.NewHash(c.commit), plumbing.CommitObject)
	if !ok || e.size > maxCommitBytes {
		return errIncomplete
	}
	data, err := c.objects.read(e, maxCommitBytes)
	if err != nil {
		return err
	}
	var commit object.Commit
	if err := commit.Decode(encoded(plumbing.CommitObject, data)); err != nil {
		return fmt.Errorf("%w: commit: %w", errMalformed, err)
	}
	c.tree = commit.TreeHash
	return nil
}

// encoded wraps the content of an object for go-git's decoders.
func encoded(typ plumbing.ObjectType, data []byte) plumbing.EncodedObject {
	o := &plumbing.MemoryObject{}
	o.SetType(typ)
	_, _ = o.Write(data)
	return o
}

// Commit implements source.Checkout.
func (c *checkout) Commit() string { return c.commit }

// Read implements source.Checkout. It finds the bytes by the hash of the file.
func (c *checkout) Read(ctx context.Context, f source.File, limit int64) (data []byte, tooLarge bool, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	switch {
	case c.closed:
		return nil, false, errClosed
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	}
	e, ok := c.objects.find(plumbing.NewHash(f.Hash), plumbing.BlobObject)
	if !ok {
		return nil, false, codesage.Errorf(codesage.KindNotFound, "%q is not in commit %s", f.Path, c.commit)
	}
	data, err = c.objects.read(e, limit)
	if err != nil {
		return nil, false, fmt.Errorf("read %q: %w", f.Path, err)
	}
	return data, e.size > limit, nil
}

// Check implements source.Checkout. A commit stays what it is.
func (c *checkout) Check(context.Context) error { return nil }

// Close implements source.Checkout. It waits for reads that are going on.
func (c *checkout) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.objects.heap.close()
}
