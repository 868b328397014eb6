package parse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"codesage"
)

// The parent and a child talk in frames: four bytes of length, little endian,
// and as many bytes. The child speaks first, with its hello; then each request
// has one answer.
const (
	maxRequest = MaxFileBytes + 4_096
	maxAnswer  = 32 << 20
	maxHello   = 64
)

// hello is what a child says first: another program, or another version of
// this one, says something else.
var hello = fmt.Appendf(nil, "codesage parser %d", Version)

// request asks for one file.
type request struct {
	grammar string
	limit   time.Duration
	text    []byte
}

// answer is what a child found.
type answer struct {
	status    status
	truncated bool
	resident  uint64 // memory of the child, in bytes
	message   string
	entities  []codesage.Entity
	spans     []codesage.Span
}

type status uint8

const (
	statusOK      status = iota
	statusTimeout        // the grammar noticed the time limit itself
	statusMemory         // the tree is too large for a parse process
	statusFailed         // the file can't be parsed: message says why
)

var errFrame = errors.New("malformed frame")

// writeFrame writes one frame.
func writeFrame(w io.Writer, body []byte) error {
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, 4), uint32(len(body)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// readFrame reads one frame of at most limit bytes. It returns io.EOF when the
// stream ends between two frames.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if uint64(n) > uint64(limit) {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", errFrame, n, limit)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body, nil
}

func (q request) encode() []byte {
	b := make([]byte, 0, len(q.text)+len(q.grammar)+24)
	b = appendText(b, q.grammar)
	b = binary.AppendUvarint(b, uint64(q.limit.Microseconds()))
	return append(b, q.text...)
}

func decodeRequest(body []byte) (request, error) {
	d := decoder{rest: body}
	q := request{grammar: d.text()}
	q.limit = time.Duration(d.number(math.MaxInt64/uint64(time.Microsecond))) * time.Microsecond
	q.text = d.rest
	return q, d.err
}

func (a *answer) encode() []byte {
	b := []byte{byte(a.status), 0}
	if a.truncated {
		b[1] = 1
	}
	b = binary.AppendUvarint(b, a.resident)
	b = appendText(b, a.message)
	b = binary.AppendUvarint(b, uint64(len(a.entities)))
	for _, e := range a.entities {
		for _, s := range []string{string(e.Type), e.Name, e.Description, e.Signature} {
			b = appendText(b, s)
		}
		for _, n := range []int{e.LineStart, e.LineEnd, e.StartByte, e.EndByte, e.NameLine} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(a.spans)))
	last := uint32(0)
	for _, s := range a.spans {
		b = binary.AppendUvarint(b, uint64(s.Start-last))
		b = binary.AppendUvarint(b, uint64(s.End-s.Start)<<2|uint64(s.Kind))
		last = s.End
	}
	return b
}

// decodeAnswer reads an answer about a text of a given length and checks every
// number in it: a child whose heap is corrupt may say anything.
func decodeAnswer(body []byte, length int) (*answer, error) {
	d := decoder{rest: body}
	a := &answer{status: status(d.byte()), truncated: d.byte() == 1}
	a.resident = d.number(math.MaxInt64)
	a.message = d.text()
	entities := d.count(MaxEntities)
	for range entities {
		a.entities = append(a.entities, d.entity(length))
		if d.err != nil {
			return nil, d.err
		}
	}
	spans, last := d.count(MaxSpans), uint64(0)
	for range spans {
		s := last + d.number(uint64(length))
		n := d.number(uint64(length)<<2 | 3)
		kind := codesage.SpanKind(n & 3)
		if last = s + n>>2; last > uint64(length) || kind != codesage.SpanComment && kind != codesage.SpanString {
			d.fail("span")
		}
		if d.err != nil {
			return nil, d.err
		}
		a.spans = append(a.spans, codesage.Span{Start: uint32(s), End: uint32(last), Kind: kind})
	}
	if len(d.rest) > 0 {
		d.fail("bytes left over")
	}
	if d.err != nil {
		return nil, d.err
	}
	return a, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads a frame's body. After the first fault it returns zeros.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errFrame, what)
	}
	d.rest = nil
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail("too short")
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) number(most uint64) uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > most {
		d.fail("number")
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// count reads a number of things of at least one byte each.
func (d *decoder) count(most int) int {
	return int(d.number(uint64(min(most, len(d.rest)))))
}

func (d *decoder) text() string {
	n := d.number(uint64(len(d.rest)))
	if n > uint64(len(d.rest)) {
		d.fail("text")
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) entity(length int) codesage.Entity {
	e := codesage.Entity{Type: codesage.EntityType(d.text()), Name: d.text(), Description: d.text(), Signature: d.text()}
	most := uint64(length) + 1 // lines are never more than bytes and one
	e.LineStart, e.LineEnd = int(d.number(most)), int(d.number(most))
	e.StartByte, e.EndByte = int(d.number(most)), int(d.number(most))
	e.NameLine = int(d.number(most))
	if e.EndByte > length || e.StartByte > e.EndByte || e.LineStart > e.LineEnd || entityTypeUnknown(e.Type) {
		d.fail("entity")
	}
	return e
}

func entityTypeUnknown(t codesage.EntityType) bool {
	for _, known := range codesage.EntityTypes {
		if t == known {
			return false
		}
	}
	return true
}
