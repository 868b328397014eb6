package git

import (
	"bufio"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
)

// Causes for which a pack is refused.
var (
	errObjectSize  = errors.New("an object is larger than allowed")
	errUnpacked    = errors.New("the objects are larger together than allowed")
	errObjectCount = errors.New("there are more objects than allowed")
	errMalformed   = errors.New("malformed pack")
)

// packLimits bound a pack. The sizes are those that the pack declares: an
// object is inflated only when its declared size is within the limits, and only
// that far.
type packLimits struct {
	object int64 // bytes of one object
	total  int64 // bytes of all objects and deltas together
	count  int64 // objects
}

// entry is an object of a pack. Its content, or until it is resolved its delta,
// is in the heap.
type entry struct {
	at     int64 // offset in the pack
	offset int64 // of the content in the heap
	size   int64
	result int64 // of a delta: declared size of what it makes
	hash   plumbing.Hash
	child  int32 // first delta on this entry; -1 = none
	next   int32 // next delta on the same base; -1 = none
	typ    plumbing.ObjectType
}

// objects are the unpacked objects of a pack, safe for concurrent reads.
type objects struct {
	heap    *heap
	entries []entry
	byHash  map[plumbing.Hash]int32
}

// find returns an object of a type.
func (o *objects) find(h plumbing.Hash, typ plumbing.ObjectType) (entry, bool) {
	i, ok := o.byHash[h]
	if !ok || o.entries[i].typ != typ {
		return entry{}, false
	}
	return o.entries[i], true
}

// read returns at most limit bytes of an object.
func (o *objects) read(e entry, limit int64) ([]byte, error) {
	data := make([]byte, max(0, min(e.size, limit)))
	_, err := o.heap.ReadAt(data, e.offset)
	return data, err
}

// unpacker reads one pack.
type unpacker struct {
	objects
	ctx    context.Context
	in     *hashedReader
	limits packLimits
	zlib   io.ReadCloser
	named  map[plumbing.Hash]int32 // first delta on a base that is given by name
	copies []byte
	base   []byte
	made   *bufio.Writer
	window []byte
}

// unpack reads a pack to its end and puts its objects into a heap. Memory use
// depends on the number of objects, not on their sizes. The pack must hold the
// base of each of its deltas. done is called when the last byte has been read,
// before the deltas are resolved. A fault of the pack is errMalformed or one of
// the limits; an error of the reader is returned as it is.
func unpack(ctx context.Context, r io.Reader, h *heap, limits packLimits, done func()) (*objects, error) {
	u := &unpacker{
		ctx: ctx, in: newHashedReader(r), limits: limits,
		objects: objects{heap: h, byHash: map[plumbing.Hash]int32{}},
		named:   map[plumbing.Hash]int32{},
		copies:  make([]byte, 32<<10),
	}
	err := u.readAll()
	done()
	if err == nil {
		err = u.resolveAll()
	}
	if err == nil {
		err = h.freeze()
	}
	if err != nil {
		return nil, u.blame(err)
	}
	return &u.objects, nil
}

// blame returns err as the fault of the pack unless something else is known to
// be the cause.
func (u *unpacker) blame(err error) error {
	if u.in.failed != nil {
		return u.in.failed
	}
	for _, known := range []error{errObjectSize, errUnpacked, errObjectCount, errHeap, u.ctx.Err()} {
		if known != nil && errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", errMalformed, err)
}

// readAll reads header, entries and checksum.
func (u *unpacker) readAll() error {
	var head [12]byte
	if _, err := io.ReadFull(u.in, head[:]); err != nil {
		return err
	}
	version, count := binary.BigEndian.Uint32(head[4:]), int64(binary.BigEndian.Uint32(head[8:]))
	switch {
	case string(head[:4]) != "PACK" || version != 2 && version != 3:
		return errors.New("no pack header")
	case count > u.limits.count:
		return fmt.Errorf("%w: %d", errObjectCount, count)
	}
	for range count {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		if err := u.readEntry(); err != nil {
			return fmt.Errorf("object at %d: %w", u.in.offset, err)
		}
	}
	return u.in.checkSum()
}

// readEntry reads one object or delta into the heap.
func (u *unpacker) readEntry() error {
	e := entry{at: u.in.offset, child: -1, next: -1}
	var err error
	if e.typ, e.size, err = u.readHeader(); err != nil {
		return err
	}
	index := int32(len(u.entries))
	switch e.typ {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		if e.next, err = u.waitForOffset(e.at, index); err != nil {
			return err
		}
	case plumbing.REFDeltaObject:
		if e.next, err = u.waitForName(index); err != nil {
			return err
		}
	default:
		return fmt.Errorf("object type %d", e.typ)
	}
	e.offset = u.heap.size()
	if e.typ.IsDelta() {
		if err = u.inflate(u.heap, e.size); err == nil {
			e.result, err = u.declared(e)
		}
	} else {
		hasher := plumbing.NewHasher(e.typ, e.size)
		err = u.inflate(io.MultiWriter(u.heap, hasher), e.size)
		e.hash = hasher.Sum()
	}
	u.entries = append(u.entries, e)
	return err
}

// readHeader reads type and size of an entry and checks the size.
func (u *unpacker) readHeader() (plumbing.ObjectType, int64, error) {
	b, err := u.in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	typ, size := plumbing.ObjectType(b>>4&7), int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if shift > 53 {
			return 0, 0, errors.New("object size")
		}
		if b, err = u.in.ReadByte(); err != nil {
			return 0, 0, err
		}
		size |= int64(b&0x7f) << shift
	}
	return typ, size, u.charge(size)
}

// charge counts bytes that are about to be unpacked.
func (u *unpacker) charge(size int64) error {
	if size > u.limits.object {
		return fmt.Errorf("%w: %d bytes", errObjectSize, size)
	}
	if u.limits.total -= size; u.limits.total < 0 {
		return errUnpacked
	}
	return nil
}

// waitForOffset reads the distance to a delta's base and puts the delta, which
// becomes entry index, on the base's list.
func (u *unpacker) waitForOffset(at int64, index int32) (next int32, err error) {
	b, err := u.in.ReadByte()
	distance := int64(b & 0x7f)
	for err == nil && b&0x80 != 0 {
		if distance > 1<<48 {
			return 0, errors.New("distance to the base")
		}
		b, err = u.in.ReadByte()
		distance = (distance+1)<<7 | int64(b&0x7f)
	}
	if err != nil {
		return 0, err
	}
	want := at - distance
	i := sort.Search(len(u.entries), func(i int) bool { return u.entries[i].at >= want })
	if i == len(u.entries) || u.entries[i].at != want {
		return 0, errors.New("no base at that distance")
	}
	next, u.entries[i].child = u.entries[i].child, index
	return next, nil
}

// waitForName reads the name of a delta's base and puts the delta on the list
// of that name.
func (u *unpacker) waitForName(index int32) (next int32, err error) {
	var base plumbing.Hash
	if _, err := io.ReadFull(u.in, base[:]); err != nil {
		return 0, err
	}
	next = -1
	if first, ok := u.named[base]; ok {
		next = first
	}
	u.named[base] = index
	return next, nil
}

// inflate writes the next compressed stream, which must hold size bytes.
func (u *unpacker) inflate(w io.Writer, size int64) error {
	var err error
	if u.zlib == nil {
		u.zlib, err = zlib.NewReader(u.in)
	} else {
		err = u.zlib.(zlib.Resetter).Reset(u.in, nil)
	}
	if err != nil {
		return err
	}
	// One byte more than declared: the reader comes to the end of the stream,
	// where its checksum is, or shows that there is more.
	n, err := io.CopyBuffer(onlyWriter{w}, io.LimitReader(u.zlib, size+1), u.copies)
	if err == nil && n != size {
		err = errors.New("object size mismatch")
	}
	return err
}

// onlyWriter hides other methods, so that a copy uses the buffer it is given.
type onlyWriter struct{ io.Writer }
