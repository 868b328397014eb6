package git

import (
	"crypto"
	"errors"
	"hash"
	"io"

	githash "github.com/go-git/go-git/v5/plumbing/hash"
)

// hashedReader is a buffered reader that knows its offset and the checksum of
// the bytes that were taken from it, not of those that it read ahead.
type hashedReader struct {
	in     io.Reader
	failed error // what the reader beneath failed with, other than its end
	offset int64
	sum    hash.Hash
	buf    []byte
	r, w   int // what is buffered
	summed int // bytes of buf that are in sum
}

func newHashedReader(r io.Reader) *hashedReader {
	return &hashedReader{in: r, sum: githash.New(crypto.SHA1), buf: make([]byte, 64<<10)}
}

// fill reads into the empty buffer.
func (h *hashedReader) fill() error {
	h.absorb()
	h.r, h.w, h.summed = 0, 0, 0
	for range 100 {
		n, err := h.in.Read(h.buf)
		h.w = n
		switch {
		case n > 0:
			return nil
		case err != nil:
			if err != io.EOF {
				h.failed = err
			}
			return err
		}
	}
	return io.ErrNoProgress
}

// absorb adds what was taken to the checksum.
func (h *hashedReader) absorb() {
	h.sum.Write(h.buf[h.summed:h.r])
	h.summed = h.r
}

func (h *hashedReader) Read(p []byte) (int, error) {
	if h.r == h.w {
		if err := h.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, h.buf[h.r:h.w])
	h.r += n
	h.offset += int64(n)
	return n, nil
}

func (h *hashedReader) ReadByte() (byte, error) {
	if h.r == h.w {
		if err := h.fill(); err != nil {
			return 0, err
		}
	}
	b := h.buf[h.r]
	h.r++
	h.offset++
	return b, nil
}

// checkSum reads the checksum that ends the stream and compares it.
func (h *hashedReader) checkSum() error {
	h.absorb()
	want := h.sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(h, got); err != nil {
		return err
	}
	if string(got) != string(want) {
		return errors.New("checksum mismatch")
	}
	return nil
}
