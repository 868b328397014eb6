package chunk

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"codesage"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text    string
		size, overlap int
		want          [][4]int // first byte, byte behind, first line, last line
	}{
		{"empty", "", 10, 2, nil},
		{"ASCII", "0123456789ABCDEFGHIJ", 10, 2, [][4]int{{0, 10, 1, 1}, {8, 18, 1, 1}, {16, 20, 1, 1}}},
		{"code points of many bytes", "a世b😀c界d", 4, 1, [][4]int{{0, 9, 1, 1}, {5, 14, 1, 1}, {13, 14, 1, 1}}},
		{"a tail that the chunk before covers", "0123456789", 10, 2, [][4]int{{0, 10, 1, 1}, {8, 10, 1, 1}}},
		{"no overlap, no tail", "0123456789", 10, 0, [][4]int{{0, 10, 1, 1}}},
		{"lines", "ab\ncd\nef", 3, 0, [][4]int{{0, 3, 1, 1}, {3, 6, 2, 2}, {6, 8, 3, 3}}},
		{"lines, shifted", "a\nbc\n\nd", 3, 1, [][4]int{{0, 3, 1, 2}, {2, 5, 2, 2}, {4, 7, 2, 4}, {6, 7, 4, 4}}},
		{"an overlap that is no smaller than the size", "abc", 2, 5, [][4]int{{0, 2, 1, 1}, {1, 3, 1, 1}, {2, 3, 1, 1}}},
		{"bytes that are not UTF-8", "a\xff\xfeb", 2, 0, [][4]int{{0, 2, 1, 1}, {2, 4, 1, 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got [][4]int
			for i, c := range Cut(tc.text, tc.size, tc.overlap) {
				if c.Index != i {
					t.Errorf("chunk %d has index %d", i, c.Index)
				}
				got = append(got, [4]int{c.Start, c.End, c.LineStart, c.LineEnd})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("chunks differ (-want +got):\n%s", diff)
			}
		})
	}
}

// check holds chunks against what Cut promises.
func check(t *testing.T, text string, size, overlap int) {
	t.Helper()
	chunks := Cut(text, size, overlap)
	step := max(size-overlap, 1)
	n := utf8.RuneCountInString(text)
	if want := (n + step - 1) / step; len(chunks) != want {
		t.Fatalf("%d chunks of %d code points by %d/%d, want %d", len(chunks), n, size, overlap, want)
	}
	lines := codesage.NewLineIndex(text)
	for i, c := range chunks {
		switch {
		case c.Index != i:
			t.Fatalf("chunk %d has index %d", i, c.Index)
		case utf8.RuneCountInString(text[:c.Start]) != i*step:
			t.Fatalf("chunk %d starts at code point %d, want %d", i, utf8.RuneCountInString(text[:c.Start]), i*step)
		case utf8.RuneCountInString(text[c.Start:c.End]) != min(size, n-i*step):
			t.Fatalf("chunk %d has %d code points, want %d", i, utf8.RuneCountInString(text[c.Start:c.End]), min(size, n-i*step))
		case utf8.ValidString(text) && !utf8.ValidString(text[c.Start:c.End]):
			t.Fatalf("chunk %d cuts a code point", i)
		case c.LineStart != lines.Line(c.Start) || c.LineEnd != lines.Line(c.End-1):
			t.Fatalf("chunk %d has lines %d-%d, want %d-%d", i, c.LineStart, c.LineEnd, lines.Line(c.Start), lines.Line(c.End-1))
		case size >= step && i > 0 && c.Start > chunks[i-1].End:
			t.Fatalf("chunk %d leaves a gap", i)
		}
	}
	if n > 0 && chunks[len(chunks)-1].End != len(text) {
		t.Fatalf("the last chunk ends at %d of %d", chunks[len(chunks)-1].End, len(text))
	}
}

func TestChunksCoverRandomTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString([]string{"a", "\n", "\r\n", "é", "世", "😀", "e\u0301", "\u2028"}[r.IntN(8)])
		}
		size := 1 + r.IntN(20)
		check(t, b.String(), size, r.IntN(size))
	}
}

func TestAllStopsWhenAsked(t *testing.T) {
	t.Parallel()
	n := 0
	for range All(strings.Repeat("x", 100), 10, 0) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d chunks, want 3", n)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a世b😀c界d", 4, 1)
	f.Add("0123456789", 10, 2)
	f.Add("\xff\n\r\n", 1, 0)
	f.Add("", 512, 64)
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		if size < 1 || size > 2000 || overlap < 0 || overlap >= size || len(text) > 10_000 {
			return
		}
		check(t, text, size, overlap)
	})
}

func BenchmarkCut(b *testing.B) {
	text := strings.Repeat("func main() { println(\"héllo\") }\n", 30_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for range All(text, codesage.DefaultChunkSize, codesage.DefaultOverlap) {
		}
	}
}
