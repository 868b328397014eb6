package index

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
)

// SegmentExt ends the names of segment files, and ManifestExt those of
// manifests. A Sweep tells by them what a file is.
const (
	SegmentExt  = ".seg"
	ManifestExt = ".json"
)

// A Manifest lists the segments of an index. Several may lie in one folder and
// name the same segments, which never change: each is one state of the index,
// and writing one does not disturb another.
type Manifest struct {
	Segments []ManifestSegment `json:"segments"`
}

// A ManifestSegment names a segment file and its deleted files.
type ManifestSegment struct {
	Name    string  `json:"name"`
	Deleted FileSet `json:"deleted,omitempty"`
}

// envelope is a manifest as it is written.
type envelope struct {
	Version  int             `json:"version"`
	CRC      uint32          `json:"crc32c"` // of Manifest, byte for byte
	Manifest json.RawMessage `json:"manifest"`
}

const manifestVersion = 1

// WriteManifest writes a manifest under a name such as "run-42.json" in the
// owner's folder, in one step: a reader sees the old file of that name, or none,
// or the whole new one. When it returns nil, the manifest and the segments that
// it names are durable. The segments must exist: fs.ErrNotExist says that one is
// gone.
func (o *Owner) WriteManifest(name string, m Manifest) error {
	dir := o.dir
	if err := checkName(name, ManifestExt); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	for _, s := range m.Segments {
		if err := checkName(s.Name, SegmentExt); err != nil {
			return fmt.Errorf("write manifest %s: %w", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, s.Name)); err != nil {
			return fmt.Errorf("write manifest %s: %w", name, err)
		}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write manifest %s: %w", name, err)
	}
	b, err := json.Marshal(envelope{manifestVersion, crc32.Checksum(body, castagnoli), body})
	if err != nil {
		return fmt.Errorf("write manifest %s: %w", name, err)
	}
	// The names of the segments become durable before the manifest can.
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("write manifest %s: %w", name, err)
	}
	if err := o.writeFile(name, b); err != nil {
		return fmt.Errorf("write manifest %s: %w", name, err)
	}
	return nil
}

// writeFile replaces a file in one durable step.
func (o *Owner) writeFile(name string, b []byte) error {
	f, err := os.CreateTemp(o.dir, tempPattern(o.name))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(o.dir, name)); err != nil {
		return err
	}
	return syncDir(o.dir)
}

// ReadManifest reads a manifest. It returns an error that is fs.ErrNotExist
// when there is none, and ErrCorrupt when it is damaged.
func ReadManifest(dir, name string) (Manifest, error) {
	var m Manifest
	if err := checkName(name, ManifestExt); err != nil {
		return m, fmt.Errorf("read manifest: %w", err)
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return m, fmt.Errorf("read manifest: %w", err)
	}
	var e envelope
	if err := json.Unmarshal(b, &e); err != nil {
		return m, fmt.Errorf("read manifest %s: %w: %w", name, err, ErrCorrupt)
	}
	if e.Version != manifestVersion || e.CRC != crc32.Checksum(e.Manifest, castagnoli) {
		return m, fmt.Errorf("read manifest %s: version %d, checksum %08x: %w", name, e.Version, e.CRC, ErrCorrupt)
	}
	if err := json.Unmarshal(e.Manifest, &m); err != nil {
		return m, fmt.Errorf("read manifest %s: %w: %w", name, err, ErrCorrupt)
	}
	for _, s := range m.Segments {
		if err := checkName(s.Name, SegmentExt); err != nil {
			return m, fmt.Errorf("read manifest %s: %w: %w", name, err, ErrCorrupt)
		}
	}
	return m, nil
}

// checkName keeps names inside the folder, and apart from temporary files.
func checkName(name, ext string) error {
	if !strings.HasSuffix(name, ext) || len(name) == len(ext) || name[0] == '.' || name != filepath.Base(name) || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("file name %q: need a plain name that ends in %s", name, ext)
	}
	return nil
}
