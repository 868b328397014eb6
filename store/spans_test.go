package store

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"codesage"
)

func TestSpansComeBack(t *testing.T) {
	t.Parallel()
	for _, spans := range [][]codesage.Span{
		nil,
		{{Start: 0, End: 0, Kind: codesage.SpanComment}},
		{{Start: 3, End: 9, Kind: codesage.SpanString}, {Start: 9, End: 10, Kind: codesage.SpanComment}},
		{{Start: 1<<32 - 1, End: 1<<32 - 1, Kind: codesage.SpanString}},
		{{Start: 0, End: 1<<32 - 1, Kind: codesage.SpanComment}},
	} {
		got, err := DecodeSpans(EncodeSpans(spans))
		if err != nil {
			t.Errorf("%v: %v", spans, err)
		}
		if diff := cmp.Diff(got, spans, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("got (-) want (+):\n%s", diff)
		}
	}
}

func FuzzDecodeSpans(f *testing.F) {
	f.Add(EncodeSpans([]codesage.Span{{Start: 3, End: 9, Kind: codesage.SpanString}, {Start: 70000, End: 80000, Kind: codesage.SpanComment}}))
	f.Add([]byte{0xff})
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		spans, err := DecodeSpans(data)
		if err != nil {
			return
		}
		var last uint32
		for _, s := range spans {
			if s.Start < last || s.End < s.Start {
				t.Fatalf("spans are not in order: %v", spans)
			}
			last = s.End
		}
		again, err := DecodeSpans(EncodeSpans(spans))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(again, spans); diff != "" {
			t.Errorf("encoded again (-), before (+):\n%s", diff)
		}
	})
}
