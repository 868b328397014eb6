package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// heapBuffer is how much of a heap's end waits in memory to be written.
const heapBuffer = 1 << 20

// errHeap marks an error of the disk.
var errHeap = errors.New("temporary file")

// heap is a temporary file to which bytes are appended and in which they are
// read by position. While it is written it is for one goroutine; after flush it
// is safe for concurrent reads.
type heap struct {
	file    *os.File
	name    string // empty when the file has no name any more
	written int64  // bytes in the file
	tail    []byte // bytes that follow them
}

// newHeap creates an empty heap in a folder. Where the system allows it the
// file loses its name at once, so that nothing is left even if the process is
// killed.
func newHeap(dir string) (*heap, error) {
	f, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHeap, err)
	}
	h := &heap{file: f, name: f.Name(), tail: make([]byte, 0, heapBuffer)}
	if runtime.GOOS != "windows" && os.Remove(h.name) == nil {
		h.name = ""
	}
	return h, nil
}

// size is the number of bytes appended.
func (h *heap) size() int64 { return h.written + int64(len(h.tail)) }

// Write appends.
func (h *heap) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), cap(h.tail)-len(h.tail))
		h.tail = append(h.tail, p[:k]...)
		p = p[k:]
		if len(h.tail) == cap(h.tail) {
			if err := h.flush(); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

// flush moves the end of the heap to the file.
func (h *heap) flush() error {
	n, err := h.file.WriteAt(h.tail, h.written)
	h.written += int64(n)
	h.tail = h.tail[:copy(h.tail, h.tail[n:])]
	if err != nil {
		return fmt.Errorf("%w: %w", errHeap, err)
	}
	return nil
}

// freeze flushes and gives the write buffer back.
func (h *heap) freeze() error {
	err := h.flush()
	if err == nil {
		h.tail = nil
	}
	return err
}

// ReadAt reads what was appended, whether it is in the file yet or not.
func (h *heap) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	if off < h.written {
		want := p[:min(int64(len(p)), h.written-off)]
		var err error
		if n, err = h.file.ReadAt(want, off); err != nil && n < len(want) {
			return n, fmt.Errorf("%w: %w", errHeap, err)
		}
	}
	if from := off + int64(n) - h.written; n < len(p) && from >= 0 && from < int64(len(h.tail)) {
		n += copy(p[n:], h.tail[from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// close removes the file.
func (h *heap) close() error {
	err := h.file.Close()
	if h.name != "" {
		err = errors.Join(err, os.Remove(h.name))
	}
	return err
}
