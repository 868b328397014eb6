package parse

/*
#include <stdlib.h>
#include "tree.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
)

// node is one node of a syntax tree, laid out as codesage_node in tree.h.
type node struct {
	start, end   uint32
	parent, next int32
	symbol       uint16
	field        uint16
}

// Both structs must stay the same size; either line fails to compile if not.
var (
	_ [unsafe.Sizeof(node{}) - C.sizeof_codesage_node]byte
	_ [C.sizeof_codesage_node - unsafe.Sizeof(node{})]byte
)

// tree is a whole syntax tree in pre-order. The first child of node i, if it
// has one, is i+1; nodes[i].next is the first node behind i's subtree. Named
// nodes are there, and those others that are keywords or fields.
type tree struct {
	nodes []node // in C memory: dead after close
	text  []byte
}

var errTimeLimit = errors.New("the time limit was hit")

// parseTree parses text and returns its tree, which the caller closes. keep
// says by symbol which nodes are of interest. It returns errTimeLimit when the
// grammar takes longer than limit and notices it itself, errMemory when the tree
// does not fit.
func parseTree(language *sitter.Language, text []byte, limit time.Duration, keep []uint8) (*tree, error) {
	buffer := C.CBytes(text)
	defer C.free(buffer)
	out := C.codesage_parse(languagePointer(language), (*C.char)(buffer), C.uint32_t(len(text)),
		C.uint64_t(limit.Microseconds()), (*C.uint8_t)(unsafe.SliceData(keep)), C.uint32_t(len(keep)))
	switch out.count {
	case -1:
		return nil, errTimeLimit
	case -2:
		return nil, errMemory
	case -3:
		return nil, errors.New("the grammar does not fit the runtime")
	}
	return &tree{nodes: unsafe.Slice((*node)(unsafe.Pointer(out.nodes)), int(out.count)), text: text}, nil
}

// close frees the nodes.
func (t *tree) close() {
	C.free(unsafe.Pointer(unsafe.SliceData(t.nodes)))
	t.nodes = nil
}

// languagePointer reads the one field of a Language, which has no accessor.
func languagePointer(l *sitter.Language) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(l))
}

// prepareMemory keeps the C heap of a process in one piece.
func prepareMemory() { C.codesage_prepare() }

// trimMemory gives the C heap's free pages back.
func trimMemory() { C.codesage_trim() }

// string returns the text of node i.
func (t *tree) string(i int32) string {
	n := &t.nodes[i]
	return string(t.text[n.start:n.end])
}

// firstChild returns the first child of i, or -1.
func (t *tree) firstChild(i int32) int32 {
	if t.nodes[i].next > i+1 {
		return i + 1
	}
	return -1
}

// nextSibling returns the next sibling of i, or -1.
func (t *tree) nextSibling(i int32) int32 {
	n := &t.nodes[i]
	if n.parent >= 0 && n.next < t.nodes[n.parent].next {
		return n.next
	}
	return -1
}

// check verifies that the tree can be walked: every index in range, every byte
// range inside the text. A grammar that broke that would make the walk panic.
func (t *tree) check() error {
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.start > n.end || int(n.end) > len(t.text) || n.next <= int32(i) || int(n.next) > len(t.nodes) || n.parent >= int32(i) {
			return fmt.Errorf("node %d of %d is out of range", i, len(t.nodes))
		}
	}
	return nil
}
