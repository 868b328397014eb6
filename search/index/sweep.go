package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lockName is the file that a writer of a folder locks.
const lockName = "lock"

// A Lock says that this process writes to a folder. Readers need none.
type Lock struct{ f *os.File }

// LockDir takes the lock of a folder, which must exist, and returns ErrLocked
// when another process, or another part of this one, has it. The lock of a
// process that dies is free.
func LockDir(dir string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return &Lock{f}, nil
}

// Unlock gives the lock back. The file stays: removing it would let two
// writers lock two files of the same name.
func (l *Lock) Unlock() error { return l.f.Close() }

// Sweep removes from a folder every segment that none of the manifests in keep
// names, every other manifest, and all temporary files: what dead and past runs
// left. It leaves files that are none of these. The caller holds the Lock and
// writes nothing meanwhile; readers may go on with segments that they have open.
// When a manifest in keep cannot be read, nothing is removed.
func Sweep(dir string, keep []string) (removed []string, err error) {
	kept := map[string]bool{}
	for _, name := range keep {
		m, err := ReadManifest(dir, name)
		if err != nil {
			return nil, fmt.Errorf("sweep %s: %w", dir, err)
		}
		kept[name] = true
		for _, s := range m.Segments {
			kept[s.Name] = true
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	// Manifests go first: one without its segments must not be seen.
	for _, isFirst := range []bool{true, false} {
		for _, e := range entries {
			name := e.Name()
			isManifest := strings.HasSuffix(name, ManifestExt)
			isOurs := isManifest || strings.HasSuffix(name, SegmentExt) || strings.HasPrefix(name, tempPrefix)
			if kept[name] || !e.Type().IsRegular() || !isOurs || isManifest != isFirst {
				continue
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return removed, fmt.Errorf("sweep: %w", err)
			}
			removed = append(removed, name)
		}
	}
	return removed, nil
}
