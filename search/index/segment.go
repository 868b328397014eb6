package index

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sort"
	"sync/atomic"
)

// A Segment is an open index file. It is safe for concurrent use. It stays
// mapped until its owner and every Index made from it have closed it.
type Segment struct {
	path   string
	data   []byte
	unmap  func() error
	refs   atomic.Int32
	sec    [numSections][]byte
	h      header
	schema Schema
	code   string // the schema as encoded
	lens   [MaxFields]lengths
}

// Open maps an index file and checks its header and the sizes of its tables,
// not its content; see Verify. The caller closes the Segment. Errors are
// ErrCorrupt or those of the file system.
func Open(path string) (*Segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	if st.Size() < headerSize || int64(int(st.Size())) != st.Size() {
		return nil, fmt.Errorf("open segment %s of %d bytes: %w", path, st.Size(), ErrCorrupt)
	}
	data, unmap, err := mapFile(f, int(st.Size()))
	if err != nil {
		return nil, fmt.Errorf("open segment %s: %w", path, err)
	}
	var s *Segment
	if err = guard(func() (err error) { s, err = newSegment(data); return err }); err != nil {
		_ = unmap()
		return nil, fmt.Errorf("open segment %s: %w", path, err)
	}
	s.path, s.unmap = path, unmap
	return s, nil
}

func newSegment(data []byte) (*Segment, error) {
	s := &Segment{data: data}
	s.refs.Store(1)
	if err := s.h.decode(data); err != nil {
		return nil, err
	}
	for i, r := range s.h.sections {
		if r.off > uint64(len(data)) || r.len > uint64(len(data))-r.off {
			return nil, fmt.Errorf("section %s is cut short: %w", section(i), ErrCorrupt)
		}
		s.sec[i] = data[r.off : r.off+r.len : r.off+r.len]
	}
	s.code = string(s.sec[secSchema])
	if err := json.Unmarshal(s.sec[secSchema], &s.schema); err != nil {
		return nil, fmt.Errorf("schema: %w: %w", err, ErrCorrupt)
	}
	if err := s.schema.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	return s, s.checkSizes()
}

// checkSizes checks that the tables have the sizes that the header implies.
func (s *Segment) checkSizes() error {
	files, docs := uint64(s.h.files), uint64(s.h.docs)
	lens := uint64(0)
	for _, w := range s.h.lenWidth[:len(s.schema.Fields)] {
		lens += docs * uint64(w)
	}
	for _, c := range []struct {
		sec section
		ok  bool
	}{
		{secSchema, int(s.h.fields) == len(s.schema.Fields) && (files > 0 || docs == 0) && s.h.docs != noDoc},
		{secDictIndex, len(s.sec[secDictIndex])%dictEntry == 0},
		{secTriIndex, len(s.sec[secTriIndex])%12 == 0},
		{secNames, uint64(len(s.sec[secNames])) >= 4*(files+1)},
		{secFiles, uint64(len(s.sec[secFiles])) == 4*(files+1)+uint64(len(Hash{}))*files},
		{secOrder, uint64(len(s.sec[secOrder])) == 8*files},
		{secDocs, uint64(len(s.sec[secDocs])) == 8*docs},
		{secLens, uint64(len(s.sec[secLens])) == lens},
		{secAttrs, uint64(len(s.sec[secAttrs])) == 4*docs*uint64(len(s.schema.Attrs))},
		{secPayIndex, len(s.sec[secPayIndex]) == 0 || uint64(len(s.sec[secPayIndex])) == 4*(docs+1)},
	} {
		if !c.ok {
			return fmt.Errorf("section %s has the wrong size: %w", c.sec, ErrCorrupt)
		}
	}
	b := s.sec[secLens]
	for i, w := range s.h.lenWidth[:len(s.schema.Fields)] {
		if w != 0 && w != 1 && w != 2 && w != 4 {
			return fmt.Errorf("lengths of %d bytes: %w", w, ErrCorrupt)
		}
		n := docs * uint64(w)
		s.lens[i] = lengths{b[:n:n], w}
		b = b[n:]
	}
	return nil
}

// retain takes a reference, unless the segment is already unmapped.
func (s *Segment) retain() bool { return retain(&s.refs) }

func retain(refs *atomic.Int32) bool {
	for {
		n := refs.Load()
		if n <= 0 {
			return false
		}
		if refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Close gives up the caller's reference. The file is unmapped with the last
// one: that of the opener, or that of an Index that is still open. A Segment is
// closed once by whoever opened it.
func (s *Segment) Close() error {
	if n := s.refs.Add(-1); n > 0 || s.unmap == nil {
		return nil
	} else if n < 0 {
		s.refs.Add(1)
		return fmt.Errorf("close segment %s: %w", s.path, ErrClosed)
	}
	return s.unmap()
}

// use runs fn while the segment is mapped, and makes faults errors.
func (s *Segment) use(fn func() error) error {
	if !s.retain() {
		return fmt.Errorf("segment %s: %w", s.path, ErrClosed)
	}
	defer s.Close()
	return guard(fn)
}

// Verify checks the checksum of every section, which reads the whole file. Run
// it after a crash, and now and then: damage inside a section can otherwise
// give wrong results without an error.
func (s *Segment) Verify() error {
	return s.use(func() error {
		for i, r := range s.h.sections {
			if crc32.Checksum(s.sec[i], castagnoli) != r.crc {
				return fmt.Errorf("verify %s: section %s: %w", s.path, section(i), ErrCorrupt)
			}
		}
		return nil
	})
}

// WriteStats writes the number of files, documents and terms and the size of
// each section, for people.
func (s *Segment) WriteStats(w io.Writer) error {
	fmt.Fprintf(w, "%-10s %12d\n%-10s %12d\n", "files", s.h.files, "documents", s.h.docs)
	for i, b := range s.sec {
		if _, err := fmt.Fprintf(w, "%-10s %12d bytes\n", section(i), len(b)); err != nil {
			return err
		}
	}
	return nil
}

// Schema returns the schema that the segment was written with.
func (s *Segment) Schema() Schema { return s.schema }

// Size returns the length of the file in bytes.
func (s *Segment) Size() int64 { return int64(len(s.data)) }

// Files returns the number of files.
func (s *Segment) Files() int { return int(s.h.files) }

// Docs returns the number of documents.
func (s *Segment) Docs() int { return int(s.h.docs) }

// FileInfo returns the path and hash of a file by number. It returns ErrClosed
// after the last Close, and ErrCorrupt for damage.
func (s *Segment) FileInfo(file int) (path string, hash Hash, err error) {
	if file < 0 || file >= s.Files() {
		return "", hash, fmt.Errorf("file %d of %d in %s", file, s.Files(), s.path)
	}
	err = s.use(func() error {
		path, hash = string(s.name(file)), s.hash(file)
		return nil
	})
	return path, hash, err
}

// Find returns the number of the file with a path. When several have it, it
// returns one of them.
func (s *Segment) Find(path string) (file int, ok bool, err error) {
	err = s.use(func() error {
		order := s.sec[secOrder]
		at := func(i int) int { return int(min(le32(order[4*i:]), s.h.files-1)) }
		n := sort.Search(s.Files(), func(i int) bool { return string(s.name(at(i))) >= path })
		if n < s.Files() && string(s.name(at(n))) == path {
			file, ok = at(n), true
		}
		return nil
	})
	return file, ok, err
}

// name returns the path of a file, nil if the index is damaged there.
func (s *Segment) name(file int) []byte {
	t := s.sec[secNames]
	lo, hi := le32(t[4*file:]), le32(t[4*file+4:])
	blob := t[4*(s.Files()+1):]
	if lo > hi || uint64(hi) > uint64(len(blob)) {
		return nil
	}
	return blob[lo:hi]
}

func (s *Segment) hash(file int) (h Hash) {
	copy(h[:], s.sec[secFiles][4*(s.Files()+1)+len(h)*file:])
	return h
}

// rank returns the place of a file in the order of paths.
func (s *Segment) rank(file int) uint32 { return le32(s.sec[secOrder][4*(s.Files()+file):]) }

// firstDoc returns the first document of a file; file may be s.Files().
func (s *Segment) firstDoc(file int) uint32 { return min(le32(s.sec[secFiles][4*file:]), s.h.docs) }

// fileOf returns the file that a document belongs to.
func (s *Segment) fileOf(doc uint32) int {
	n := sort.Search(s.Files(), func(i int) bool { return s.firstDoc(i+1) > doc })
	return min(n, s.Files()-1)
}

func (s *Segment) docRange(doc uint32) (start, end uint32) {
	b := s.sec[secDocs][8*doc:]
	return le32(b), le32(b[4:])
}

func (s *Segment) attr(i int, doc uint32) uint32 {
	return le32(s.sec[secAttrs][4*(uint64(i)*uint64(s.h.docs)+uint64(doc)):])
}

// payload returns the payload of a document, nil if the index is damaged there.
func (s *Segment) payload(doc uint32) []byte {
	idx := s.sec[secPayIndex]
	if len(idx) == 0 {
		return nil
	}
	lo, hi := le32(idx[4*uint64(doc):]), le32(idx[4*uint64(doc)+4:])
	if lo > hi || uint64(hi) > uint64(len(s.sec[secPayload])) {
		return nil
	}
	return s.sec[secPayload][lo:hi]
}

// lengths holds the token counts of a field, exact.
type lengths struct {
	b     []byte
	width uint8
}

func (l lengths) of(doc uint32) uint32 {
	switch l.width {
	case 1:
		return uint32(l.b[doc])
	case 2:
		return uint32(le16(l.b[2*uint64(doc):]))
	case 4:
		return le32(l.b[4*uint64(doc):])
	}
	return 0
}
