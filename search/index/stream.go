package index

import (
	"hash/crc32"
	"io"
	"os"
)

// streamBuffer is how much a stream holds before it needs a file.
const streamBuffer = 256 << 10

// A stream collects a section that is written bit by bit, with its length and
// checksum. What does not fit in its buffer goes to a temporary file, so that
// small segments need none.
type stream struct {
	dir   string
	owner string   // of the temporary file
	f     *os.File // nil until it is needed
	buf   []byte
	len   uint64
	crc   uint32
	err   error // the first one, which flush returns
}

func (s *stream) open() (err error) {
	s.f, err = os.CreateTemp(s.dir, tempPattern(s.owner))
	return err
}

func (s *stream) write(b []byte) {
	s.len += uint64(len(b))
	s.crc = crc32.Update(s.crc, castagnoli, b)
	s.buf = append(s.buf, b...)
	if len(s.buf) >= streamBuffer {
		s.flush()
	}
}

// flush writes what is in the buffer to the file.
func (s *stream) flush() error {
	if s.err == nil && s.f == nil {
		s.err = s.open()
	}
	if s.err == nil {
		_, s.err = s.f.Write(s.buf)
	}
	s.buf = s.buf[:0]
	return s.err
}

// copyTo writes all of the stream to w.
func (s *stream) copyTo(w io.Writer) error {
	if s.f == nil && s.err == nil {
		_, err := w.Write(s.buf)
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.f)
	return err
}

// remove closes and removes the file, if there is one.
func (s *stream) remove() {
	if s.f != nil {
		s.f.Close()
		os.Remove(s.f.Name())
		s.f = nil
	}
}
