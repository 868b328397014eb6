package git

import (
	"bufio"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// baseInMemory is the size up to which the base of a delta is read into memory
// as a whole.
const baseInMemory = 1 << 20

var errDelta = errors.New("malformed delta")

// declared returns the size of what a delta in the heap makes, and counts it.
func (u *unpacker) declared(e entry) (int64, error) {
	r := bufio.NewReaderSize(io.NewSectionReader(u.heap, e.offset, min(e.size, 32)), 32)
	if _, err := readSize(r); err != nil {
		return 0, err
	}
	result, err := readSize(r)
	if err != nil {
		return 0, err
	}
	return result, u.charge(result)
}

// readSize reads a size of a delta's header.
func readSize(r io.ByteReader) (size int64, err error) {
	for shift := 0; shift < 56; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, errDelta
		}
		size |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, nil
		}
	}
	return 0, errDelta
}

// resolveAll gives every entry its content and indexes them. Bases come before
// what is built on them; no content is held in memory, so the length of a chain
// does not matter.
func (u *unpacker) resolveAll() error {
	ready := make([]int32, 0, len(u.entries))
	for i := range u.entries {
		if !u.entries[i].typ.IsDelta() {
			ready = append(ready, int32(i))
		}
	}
	for len(ready) > 0 {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		base := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		hash := u.entries[base].hash
		u.byHash[hash] = base
		lists := []int32{u.entries[base].child}
		if first, ok := u.named[hash]; ok {
			delete(u.named, hash)
			lists = append(lists, first)
		}
		for _, child := range lists {
			for ; child >= 0; child = u.entries[child].next {
				if err := u.apply(base, child); err != nil {
					return err
				}
				ready = append(ready, child)
			}
		}
	}
	for i := range u.entries {
		if u.entries[i].typ.IsDelta() {
			return errors.New("the base of a delta is missing")
		}
	}
	return nil
}

// apply turns the delta of entry child into its content.
func (u *unpacker) apply(base, child int32) error {
	b, e := u.entries[base], &u.entries[child]
	from, err := u.baseReader(b)
	if err != nil {
		return err
	}
	delta := bufio.NewReaderSize(io.NewSectionReader(u.heap, e.offset, e.size), 4<<10)
	baseSize, err := readSize(delta)
	if err != nil || baseSize != b.size {
		return errDelta
	}
	if _, err := readSize(delta); err != nil {
		return err
	}
	offset, hasher := u.heap.size(), plumbing.NewHasher(b.typ, e.result)
	p := patch{to: onlyWriter{io.MultiWriter(u.heap, hasher)}, base: from, baseSize: b.size, left: e.result, buf: u.copies}
	if err := p.run(delta); err != nil {
		return err
	}
	e.typ, e.offset, e.size, e.hash = b.typ, offset, e.result, hasher.Sum()
	return nil
}

// baseReader returns the content of a base: from memory when it is small.
func (u *unpacker) baseReader(b entry) (io.ReaderAt, error) {
	if b.size > baseInMemory {
		return io.NewSectionReader(u.heap, b.offset, b.size), nil
	}
	if u.base == nil {
		u.base = make([]byte, baseInMemory)
	}
	_, err := u.heap.ReadAt(u.base[:b.size], b.offset)
	return memory(u.base[:b.size]), err
}

// memory is an io.ReaderAt of bytes.
type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, m[min(off, int64(len(m))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// patch carries out the instructions of a delta.
type patch struct {
	to       io.Writer
	base     io.ReaderAt
	baseSize int64
	left     int64 // bytes still to be made
	buf      []byte
}

// run reads instructions to their end and checks that they make exactly what
// the delta declared.
func (p *patch) run(delta *bufio.Reader) error {
	for {
		op, err := delta.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && p.left == 0:
			return nil
		case errors.Is(err, io.EOF):
			return errDelta
		case err != nil:
			return err
		case op == 0:
			return errDelta
		case op&0x80 != 0:
			err = p.copyBase(op, delta)
		default:
			err = p.copyFrom(delta, int64(op))
		}
		if err != nil {
			return err
		}
	}
}

// copyBase carries out a copy from the base.
func (p *patch) copyBase(op byte, delta io.ByteReader) error {
	var offset, size int64
	for i := range 7 {
		if op&(1<<i) == 0 {
			continue
		}
		b, err := delta.ReadByte()
		if err != nil {
			return errDelta
		}
		if i < 4 {
			offset |= int64(b) << (8 * i)
		} else {
			size |= int64(b) << (8 * (i - 4))
		}
	}
	if size == 0 {
		size = 0x10000
	}
	if offset+size > p.baseSize {
		return errDelta
	}
	return p.copyFrom(io.NewSectionReader(p.base, offset, size), size)
}

// copyFrom copies size bytes of a reader.
func (p *patch) copyFrom(r io.Reader, size int64) error {
	if p.left -= size; p.left < 0 {
		return errDelta
	}
	n, err := io.CopyBuffer(p.to, io.LimitReader(r, size), p.buf)
	if err == nil && n != size {
		return errDelta
	}
	return err
}
