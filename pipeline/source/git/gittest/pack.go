package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // git names objects by it
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"
	"iter"
	"slices"
)

// Entry types of a pack.
const (
	PackCommit   = 1
	PackTree     = 2
	PackBlob     = 3
	PackOfsDelta = 6
	PackRefDelta = 7
)

// PackEntry is an object of a hand-made pack.
type PackEntry struct {
	Type   int
	Data   io.Reader // content or delta
	Size   int64     // declared size of it, true or not
	Base   [20]byte  // of a PackRefDelta
	Back   int64     // distance to the base of a PackOfsDelta
	Stored bool      // don't compress; for up to 64 KB
}

// Bytes makes an entry of bytes.
func Bytes(typ int, data []byte) PackEntry {
	return PackEntry{Type: typ, Data: bytes.NewReader(data), Size: int64(len(data))}
}

// MakePack writes a pack of entries, with as many announced as count says and a
// right checksum.
func MakePack(count int, entries ...PackEntry) []byte {
	return MakePackOf(count, slices.Values(entries))
}

// MakePackOf is MakePack for entries that are made as they are needed.
func MakePackOf(count int, entries iter.Seq[PackEntry]) []byte {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	_ = binary.Write(&b, binary.BigEndian, uint32(count))
	for e := range entries {
		e.write(&b)
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}

func (e PackEntry) write(b *bytes.Buffer) {
	size := e.Size
	first := byte(e.Type<<4) | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		b.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	b.WriteByte(first)
	switch e.Type {
	case PackRefDelta:
		b.Write(e.Base[:])
	case PackOfsDelta:
		b.Write(distance(e.Back))
	}
	if e.Stored {
		data, _ := io.ReadAll(e.Data)
		store(b, data)
		return
	}
	w := zlib.NewWriter(b)
	_, _ = io.Copy(w, e.Data)
	_ = w.Close()
}

// store writes the zlib stream of up to 64 KB without compressing them, which
// takes a thousandth of the time.
func store(b *bytes.Buffer, data []byte) {
	b.Write([]byte{0x78, 0x01, 0x01})
	_ = binary.Write(b, binary.LittleEndian, [2]uint16{uint16(len(data)), ^uint16(len(data))})
	b.Write(data)
	_ = binary.Write(b, binary.BigEndian, adler32.Checksum(data))
}

// distance encodes the distance to a base.
func distance(n int64) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append([]byte{byte(n&0x7f) | 0x80}, out...)
	}
	return out
}

// Zeros reads n zero bytes.
func Zeros(n int64) io.Reader { return io.LimitReader(zeros{}, n) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Delta makes the delta that copies its whole base, of a size, and adds bytes.
func Delta(base int64, add []byte) []byte {
	out := append(deltaSize(base), deltaSize(base+int64(len(add)))...)
	for at := int64(0); at < base; {
		n := min(base-at, 0xffffff)
		out = append(out, 0xff, byte(at), byte(at>>8), byte(at>>16), byte(at>>24), byte(n), byte(n>>8), byte(n>>16))
		at += n
	}
	for len(add) > 0 {
		n := min(len(add), 127)
		out = append(append(out, byte(n)), add[:n]...)
		add = add[n:]
	}
	return out
}

func deltaSize(n int64) []byte {
	var out []byte
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// Name is the name of an object: the SHA-1 of its type, size and content.
func Name(typ string, size int64, content io.Reader) [20]byte {
	h := sha1.New()
	_, _ = fmt.Fprintf(h, "%s %d\x00", typ, size)
	_, _ = io.Copy(h, content)
	return [20]byte(h.Sum(nil))
}

// CommitOf makes a commit of a tree and returns it with its name.
func CommitOf(tree [20]byte) (data []byte, name string) {
	data = fmt.Appendf(nil, "tree %x\nauthor t <t@example.com> 1700000000 +0000\ncommitter t <t@example.com> 1700000000 +0000\n\ntest\n", tree)
	return data, fmt.Sprintf("%x", Name("commit", int64(len(data)), bytes.NewReader(data)))
}
