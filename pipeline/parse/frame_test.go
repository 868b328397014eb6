package parse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"codesage"

	"github.com/google/go-cmp/cmp"
)

var sample = answer{
	status:    statusOK,
	truncated: true,
	resident:  1 << 30,
	message:   "m",
	entities: []codesage.Entity{
		{Type: codesage.EntityFunction, Name: "f", Description: "Go function: f", Signature: "func f()", LineStart: 1, LineEnd: 2, StartByte: 0, EndByte: 9, NameLine: 1},
		{Type: codesage.EntityImport, Name: "é", Description: "Go import: é"},
	},
	spans: []codesage.Span{{Start: 1, End: 3, Kind: codesage.SpanComment}, {Start: 3, End: 10, Kind: codesage.SpanString}},
}

func TestFramesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	got, err := decodeAnswer(sample.encode(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&sample, got, cmp.AllowUnexported(answer{})); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	want := request{grammar: "go", limit: 3 * time.Second, text: []byte("package a")}
	q, err := decodeRequest(want.encode())
	if diff := cmp.Diff(want, q, cmp.AllowUnexported(request{})); err != nil || diff != "" {
		t.Errorf("request: %v (-want +got):\n%s", err, diff)
	}
}

func TestFrameOverItsLimitIsNotRead(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"\xff\xff\xff\xff", "\x0b\x00\x00\x00"} {
		if _, err := readFrame(strings.NewReader(head+"0123456789a"), 10); !errors.Is(err, errFrame) {
			t.Errorf("%q: got %v", head, err)
		}
	}
	if _, err := readFrame(strings.NewReader("\x05\x00\x00\x00abc"), 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut frame: got %v", err)
	}
	if _, err := readFrame(strings.NewReader(""), 10); !errors.Is(err, io.EOF) {
		t.Errorf("no frame: got %v", err)
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add(sample.encode(), 10)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, body []byte, length int) {
		length &= 1<<20 - 1
		a, err := decodeAnswer(body, length)
		if err != nil {
			return
		}
		last := uint32(0)
		for _, s := range a.spans {
			if s.Start < last || s.End < s.Start || int(s.End) > length {
				t.Fatalf("span %v of %d bytes", s, length)
			}
			last = s.End
		}
		for _, e := range a.entities {
			if e.StartByte < 0 || e.StartByte > e.EndByte || e.EndByte > length || e.LineStart > e.LineEnd {
				t.Fatalf("entity %+v of %d bytes", e, length)
			}
		}
	})
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add(request{grammar: "go", limit: time.Second, text: []byte("package a")}.encode())
	f.Fuzz(func(t *testing.T, body []byte) {
		var framed bytes.Buffer
		if err := writeFrame(&framed, body); err != nil {
			t.Fatal(err)
		}
		got, err := readFrame(&framed, len(body))
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("got %q, %v", got, err)
		}
		_, _ = decodeRequest(got)
	})
}
