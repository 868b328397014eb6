package index

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A FileSet is a set of files of one segment, as a bitmap; nil is empty. In
// JSON it is the bitmap in base64.
type FileSet []uint64

// Has reports whether file is in the set.
func (s FileSet) Has(file int) bool {
	return file >= 0 && file/64 < len(s) && s[file/64]>>(file%64)&1 == 1
}

// Add puts file in the set.
func (s *FileSet) Add(file int) {
	for len(*s) <= file/64 {
		*s = append(*s, 0)
	}
	(*s)[file/64] |= 1 << (file % 64)
}

// Len returns the number of files in the set.
func (s FileSet) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Clone returns a copy.
func (s FileSet) Clone() FileSet { return append(FileSet(nil), s...) }

// MarshalText implements encoding.TextMarshaler.
func (s FileSet) MarshalText() ([]byte, error) {
	var b []byte
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *FileSet) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(b)%8 != 0 {
		return fmt.Errorf("decode file set of %d bytes: %w", len(text), ErrCorrupt)
	}
	*s = nil
	for ; len(b) > 0; b = b[8:] {
		*s = append(*s, binary.LittleEndian.Uint64(b))
	}
	return nil
}
