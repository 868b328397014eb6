package store

import (
	"encoding/binary"
	"errors"
	"math"

	"codesage"
)

// EncodeSpans packs the spans of a file, sorted by start, into a few bytes
// each: the distance from the end of the one before, then the length and the
// kind together, as varints.
func EncodeSpans(spans []codesage.Span) []byte {
	data := make([]byte, 0, 4*len(spans))
	var last uint64
	for _, s := range spans {
		data = binary.AppendUvarint(data, uint64(s.Start)-last)
		data = binary.AppendUvarint(data, uint64(s.End-s.Start)<<2|uint64(s.Kind&3))
		last = uint64(s.End)
	}
	return data
}

// DecodeSpans is the inverse of EncodeSpans. It refuses bytes that EncodeSpans
// can't have made.
func DecodeSpans(data []byte) ([]codesage.Span, error) {
	var spans []codesage.Span
	var last uint64
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errSpans
		}
		packed, m := binary.Uvarint(data[n:])
		if m <= 0 {
			return nil, errSpans
		}
		start := last + gap
		last = start + packed>>2
		if gap > math.MaxUint32 || packed>>2 > math.MaxUint32 || last > math.MaxUint32 {
			return nil, errSpans
		}
		spans = append(spans, codesage.Span{Start: uint32(start), End: uint32(last), Kind: codesage.SpanKind(packed & 3)})
		data = data[n+m:]
	}
	return spans, nil
}

var errSpans = errors.New("packed spans are malformed")
