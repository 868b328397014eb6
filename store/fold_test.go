package store

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFoldIgnoresCase(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"Server", "sERVER", true},
		{"ÄRGER", "ärger", true},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", true},
		{"\u212A", "k", true},
		{"ſ", "S", true},
		{"straße", "STRASSE", false},
		{"a", "b", false},
		{"nul\x00", "NUL\x00", true},
	} {
		if got := Fold(tc.a) == Fold(tc.b); got != tc.same {
			t.Errorf("%q and %q: got %v, want %v", tc.a, tc.b, got, tc.same)
		}
	}
}

func TestFoldAgreesWithEqualFold(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		for _, other := range []string{strings.ToUpper(string(r)), strings.ToLower(string(r))} {
			if got, want := Fold(string(r)) == Fold(other), strings.EqualFold(string(r), other); got != want {
				t.Fatalf("%U and %q: got %v, want %v", r, other, got, want)
			}
		}
	}
}

func TestPrefixEndIsAfterAllWithThePrefix(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	alphabet := []rune{0, 1, '%', '/', 'a', 'b', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}
	random := func() string {
		s := make([]rune, rnd.IntN(4))
		for i := range s {
			s[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		return string(s)
	}
	for range 100_000 {
		prefix, s := random(), random()
		end, ok := PrefixEnd(prefix)
		got := s >= prefix && (!ok || s < end)
		if want := strings.HasPrefix(s, prefix); got != want {
			t.Fatalf("prefix %q (end %q, %v) of %q: got %v, want %v", prefix, end, ok, s, got, want)
		}
		if !utf8.ValidString(end) {
			t.Fatalf("end %q of %q is not UTF-8", end, prefix)
		}
	}
}

func TestPrefixEndOfNothing(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "\U0010ffff"} {
		if end, ok := PrefixEnd(prefix); ok {
			t.Errorf("%q: got %q, want none", prefix, end)
		}
	}
}
