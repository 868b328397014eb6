package index

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
)

// An interner gives small numbers to strings.
type interner struct {
	seed  maphash.Seed
	slots []uint64 // hash<<32 | id+1
	ends  []uint32 // end in arena of each string
	arena []byte
}

func (t *interner) init() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
		t.slots = make([]uint64, 1<<12)
	}
	clear(t.slots)
	t.ends, t.arena = append(t.ends[:0], 0), t.arena[:0]
}

func (t *interner) len() int               { return len(t.ends) - 1 }
func (t *interner) bytes(id uint32) []byte { return t.arena[t.ends[id]:t.ends[id+1]] }
func (t *interner) memory() int            { return 8*len(t.slots) + 4*len(t.ends) + len(t.arena) }

// id returns the number of s, and whether s is new.
func (t *interner) id(s string) (uint32, bool) {
	h := maphash.String(t.seed, s)
	mask := uint64(len(t.slots) - 1)
	tag := h &^ (1<<32 - 1)
	i := h & mask
	for t.slots[i] != 0 {
		if v := t.slots[i]; v&^(1<<32-1) == tag {
			if id := uint32(v) - 1; string(t.bytes(id)) == s {
				return id, false
			}
		}
		i = (i + 1) & mask
	}
	n := uint32(t.len())
	t.slots[i] = tag | uint64(n+1)
	t.arena = append(t.arena, s...)
	t.ends = append(t.ends, uint32(len(t.arena)))
	if t.len()*2 > len(t.slots) {
		t.grow()
	}
	return n, true
}

func (t *interner) grow() {
	t.slots = make([]uint64, 2*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for id := range t.len() {
		h := maphash.Bytes(t.seed, t.bytes(uint32(id)))
		i := h & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = h&^(1<<32-1) | uint64(id+1)
	}
}

// sorted returns the numbers in the order of their strings.
func (t *interner) sorted() []uint32 {
	type entry struct {
		prefix uint64
		id     uint32
	}
	list := make([]entry, t.len())
	for i := range list {
		list[i] = entry{keyPrefix(t.bytes(uint32(i))), uint32(i)}
	}
	slices.SortFunc(list, func(a, b entry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return strings.Compare(string(t.bytes(a.id)), string(t.bytes(b.id)))
	})
	ids := make([]uint32, len(list))
	for i, e := range list {
		ids[i] = e.id
	}
	return ids
}

// keyPrefix returns the first eight bytes of b as a number, so that numbers
// compare as the bytes do.
func keyPrefix(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var p [8]byte
	copy(p[:], b)
	return binary.BigEndian.Uint64(p[:])
}
