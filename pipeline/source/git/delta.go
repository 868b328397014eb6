package git

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// baseInMemory is the size up to which the base of a delta is read into memory
// as a whole.
const baseInMemory = 1 << 20

// Work on a delta.
const (
	deltaBuffer = 32 << 10 // what is read of a large base, and written, at a time
	looks       = 1 << 10  // instructions after which the context is looked at
	looksBytes  = 4 << 20  // bytes likewise
)

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
		var from io.ReaderAt // read once for all that is built on it
		for _, child := range lists {
			for ; child >= 0; child = u.entries[child].next {
				if err := u.ctx.Err(); err != nil {
					return err
				}
				if from == nil {
					var err error
					if from, err = u.baseReader(u.entries[base]); err != nil {
						return err
					}
				}
				if err := u.apply(base, child, from); err != nil {
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

// apply turns the delta of entry child into its content; from is that of the
// base.
func (u *unpacker) apply(base, child int32, from io.ReaderAt) error {
	b, e := u.entries[base], &u.entries[child]
	delta := bufio.NewReaderSize(io.NewSectionReader(u.heap, e.offset, e.size), 4<<10)
	baseSize, err := readSize(delta)
	if err != nil || baseSize != b.size {
		return errDelta
	}
	if _, err := readSize(delta); err != nil {
		return err
	}
	offset, hasher := u.heap.size(), plumbing.NewHasher(b.typ, e.result)
	if u.made == nil {
		u.made, u.window = bufio.NewWriterSize(nil, deltaBuffer), make([]byte, deltaBuffer)
	}
	u.made.Reset(onlyWriter{io.MultiWriter(u.heap, hasher)})
	p := patch{ctx: u.ctx, to: u.made, window: u.window[:0], base: from, baseSize: b.size, left: e.result, buf: u.copies}
	if err := p.run(delta); err != nil {
		return err
	}
	if err := u.made.Flush(); err != nil {
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
	ctx      context.Context
	to       *bufio.Writer
	base     io.ReaderAt
	baseSize int64
	left     int64 // bytes still to be made
	buf      []byte

	copied int64  // bytes copied since ctx was looked at
	window []byte // the part of the base that short copies read from
	from   int64  // where it is in the base
}

// run reads instructions to their end and checks that they make exactly what
// the delta declared.
func (p *patch) run(delta *bufio.Reader) error {
	for n := 1; ; n++ {
		if n%looks == 0 || p.copied > looksBytes {
			if err := p.ctx.Err(); err != nil {
				return err
			}
			p.copied = 0
		}
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
	if size > deltaBuffer/4 {
		return p.copyFrom(io.NewSectionReader(p.base, offset, size), size)
	}
	if p.left -= size; p.left < 0 {
		return errDelta
	}
	data, err := p.short(offset, size)
	if err == nil {
		_, err = p.to.Write(data)
	}
	return err
}

// short returns a short part of the base. What is in memory is not read anew.
func (p *patch) short(offset, size int64) ([]byte, error) {
	if m, ok := p.base.(memory); ok {
		return m[offset : offset+size], nil
	}
	if offset < p.from || offset+size > p.from+int64(len(p.window)) {
		p.window, p.from = p.window[:min(deltaBuffer, p.baseSize-offset)], offset
		if _, err := p.base.ReadAt(p.window, offset); err != nil {
			p.window = p.window[:0]
			return nil, err
		}
	}
	return p.window[offset-p.from:][:size], nil
}

// copyFrom copies size bytes of a reader.
func (p *patch) copyFrom(r io.Reader, size int64) error {
	if p.left -= size; p.left < 0 {
		return errDelta
	}
	p.copied += size
	n, err := io.CopyBuffer(onlyWriter{p.to}, io.LimitReader(r, size), p.buf)
	if err == nil && n != size {
		return errDelta
	}
	return err
}
