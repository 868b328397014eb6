package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Sweep removes from a folder what past writers left. It has two steps, so that
// what begins in between is safe: Look notes what there is, and only then does
// the caller find out which manifests to keep.
//
// Why nothing that is needed goes, whatever other processes do meanwhile: a file
// is removed only if it was noted and its owner had ended by then. An owner that
// has ended has written its manifest before, so if the manifest is among those to
// keep, Remove reads it. And a file that an owner at work takes over from its base
// is named by the manifest of the base, which the caller keeps for its sake.
type Sweep struct {
	dir       string
	manifests []string
	others    []string // segments, locks and temporary files of owners that have ended
	isLive    bool
}

// Look notes what is in a folder and which of its owners are at work.
func Look(dir string) (*Sweep, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for leftovers: %w", err)
	}
	s := &Sweep{dir: dir}
	// The locks are looked at after all names are read: an owner takes its lock
	// before it makes a file, and a name that has none any more stays without.
	isHeld := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		switch {
		case !e.Type().IsRegular():
			continue
		case strings.HasPrefix(name, tempPrefix), strings.HasSuffix(name, SegmentExt), strings.HasSuffix(name, lockExt):
		case strings.HasSuffix(name, ManifestExt):
			s.manifests = append(s.manifests, name)
			continue
		default:
			continue
		}
		owner := ownerOf(name)
		held, ok := isHeld[owner]
		if !ok {
			if held, err = isLocked(filepath.Join(dir, owner+lockExt)); err != nil {
				return nil, fmt.Errorf("look for leftovers: %w", err)
			}
			isHeld[owner] = held
		}
		if s.isLive = s.isLive || held; !held {
			s.others = append(s.others, name)
		}
	}
	return s, nil
}

// IsLive reports whether an owner was at work in the folder.
func (s *Sweep) IsLive() bool { return s.isLive }

// Remove removes of what was noted every manifest that is not in keep, and the
// segments that none of keep names, the locks and the temporary files of owners
// that had ended. It leaves files that are none of these; readers may go on with
// segments that they have open. Manifests of runs of which a writer may be at
// work, and those such writers began from, must be in keep.
//
// A damaged manifest in keep stays and names nothing. When one is gone or cannot
// be read for another reason, nothing is removed.
func (s *Sweep) Remove(keep []string) (removed []string, err error) {
	kept := map[string]bool{}
	for _, name := range keep {
		m, err := ReadManifest(s.dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil // another sweep is at work, which knows better
		case err != nil && !errors.Is(err, ErrCorrupt):
			return nil, fmt.Errorf("sweep %s: %w", s.dir, err)
		}
		kept[name] = true
		for _, s := range m.Segments {
			kept[s.Name] = true
		}
	}
	// Manifests go first: one without its segments must not be seen.
	for _, list := range [][]string{s.manifests, s.others} {
		for _, name := range list {
			if kept[name] {
				continue
			}
			err := os.Remove(filepath.Join(s.dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue // its owner removed it, or another sweep
			}
			if err != nil {
				return removed, fmt.Errorf("sweep: %w", err)
			}
			removed = append(removed, name)
		}
	}
	return removed, nil
}
