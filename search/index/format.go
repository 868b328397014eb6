package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	magic      = "CSINDEX\x01" // the last byte is the version of the format
	headerSize = 1024
	blockLen   = 128  // documents in a postings block
	skipSize   = 20   // bytes of a skip entry
	dictBlock  = 16   // terms in a dictionary block
	dictEntry  = 12   // bytes of a dictIndex entry
	triBlock   = 64   // trigrams in a trigram dictionary block
	pathField  = 0xff // file-granular field that holds the words of the path
	noDoc      = ^uint32(0)
	maxSection = 1<<32 - 1
)

// A section is a part of a segment file, in file order.
type section int

const (
	secPost section = iota
	secPos
	secPayload
	secDict
	secDictIndex
	secNames
	secFiles
	secOrder
	secDocs
	secLens
	secAttrs
	secPayIndex
	secTriDict
	secTriIndex
	secTriPost
	secSchema
	numSections
)

var sectionNames = [numSections]string{"postings", "positions", "payload", "dict", "dictIndex", "names",
	"files", "order", "docs", "lens", "attrs", "payIndex", "triDict", "triIndex", "triPost", "schema"}

func (s section) String() string { return sectionNames[s] }

// Errors that callers may test for with errors.Is.
var (
	// ErrCorrupt reports an index file whose content contradicts itself, is
	// cut short, or has a version that this package does not know. The
	// index is derived data: build it again.
	ErrCorrupt = errors.New("corrupt index")
	// ErrTooLarge reports a section that would pass 4 GiB, a document with
	// too many tokens, or more than 2^32 documents.
	ErrTooLarge = errors.New("index too large")
	// ErrQuery reports a query that is over a limit or does not fit the
	// schema.
	ErrQuery = errors.New("bad query")
	// ErrClosed reports the use of an Index or Segment after its Close.
	ErrClosed = errors.New("index closed")
	// ErrLocked reports that another writer holds the lock of a folder.
	ErrLocked = errors.New("index locked")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type sectionRef struct {
	off, len uint64
	crc      uint32
}

type header struct {
	files, docs uint32
	fields      uint32
	totalLen    [MaxFields]uint64 // tokens per field
	lenWidth    [MaxFields]uint8  // bytes of a length in the lens section
	sections    [numSections]sectionRef
}

func (h *header) encode() []byte {
	b := append(make([]byte, 0, headerSize), magic...)
	b = put32(put32(put32(put32(b, h.files), h.docs), h.fields), 0)
	for _, n := range h.totalLen {
		b = put64(b, n)
	}
	b = append(b, h.lenWidth[:]...)
	for _, s := range h.sections {
		b = put32(put32(put64(put64(b, s.off), s.len), s.crc), 0)
	}
	b = append(b, make([]byte, headerSize-4-len(b))...)
	return put32(b, crc32.Checksum(b, castagnoli))
}

func (h *header) decode(b []byte) error {
	if len(b) < headerSize || string(b[:len(magic)-1]) != magic[:len(magic)-1] {
		return fmt.Errorf("header: %w", ErrCorrupt)
	}
	if b[len(magic)-1] != magic[len(magic)-1] {
		return fmt.Errorf("format version %d: %w", b[len(magic)-1], ErrCorrupt)
	}
	if crc32.Checksum(b[:headerSize-4], castagnoli) != le32(b[headerSize-4:]) {
		return fmt.Errorf("header checksum: %w", ErrCorrupt)
	}
	h.files, h.docs, h.fields = le32(b[8:]), le32(b[12:]), le32(b[16:])
	p := b[24:]
	for i := range h.totalLen {
		h.totalLen[i] = le64(p)
		p = p[8:]
	}
	p = p[copy(h.lenWidth[:], p):]
	for i := range h.sections {
		h.sections[i] = sectionRef{le64(p), le64(p[8:]), le32(p[16:])}
		p = p[24:]
	}
	return nil
}

func le16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func put16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }
func put32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func put64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
func putUv(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// uv decodes a uvarint at b[i]. A negative next index means that the input was
// bad; it is sticky, so a caller may decode several and check the last.
func uv(b []byte, i int) (v uint64, next int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	if i < 0 || i > len(b) {
		return 0, -1
	}
	v, n := binary.Uvarint(b[i:])
	if n <= 0 {
		return 0, -1
	}
	return v, i + n
}

// skipUv steps over n uvarints.
func skipUv(b []byte, i int, n uint32) int {
	if i < 0 {
		return -1
	}
	for ; n > 0; n-- {
		for {
			if uint(i) >= uint(len(b)) {
				return -1
			}
			c := b[i]
			i++
			if c < 0x80 {
				break
			}
		}
	}
	return i
}

// appendPacked appends 128 values of the given bit width.
func appendPacked(dst []byte, v *[blockLen]uint32, width uint) []byte {
	var acc uint64
	var n uint
	for _, x := range v {
		acc |= uint64(x) << n
		n += width
		for n >= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
			n -= 8
		}
	}
	return dst
}

// unpack is the inverse of appendPacked. src must hold 16*width+8 bytes, and
// width must be at most 32.
func unpack(src []byte, width uint, v *[blockLen]uint32) {
	if width == 0 {
		clear(v[:])
		return
	}
	mask := uint64(1)<<width - 1
	bit := uint(0)
	for i := range v {
		v[i] = uint32(le64(src[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
}
