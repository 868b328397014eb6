package index_test

import (
	"slices"
	"strings"
	"testing"

	"codesage/search/index"
)

func TestTokensAreRunsOfLettersAndNumbers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"only separators", " _ -- \n", nil},
		{"code", "func (c *Client) Do(r)", []string{"func", "c", "client", "do", "r"}},
		{"underscore separates", "read_write __init__", []string{"read", "write", "init"}},
		{"camel case stays whole", "HTTPServer2", []string{"httpserver2"}},
		{"letters of other scripts", "Größe Ünï 日本語 кот", []string{"größe", "ünï", "日本語", "кот"}},
		{"numbers of other kinds", "x² Ⅷ ٣", []string{"x²", "ⅷ", "٣"}},
		{"combining vowel signs are alphabetic", "हिन्दी", []string{"हिन", "दी"}},
		{"a combining accent is not", "e\u0301a", []string{"e", "a"}},
		{"no UTF-8", "a\xffb\xe4", []string{"a", "b"}},
		{"dotted capital i", "İx", []string{"i̇x"}},
		{"no final sigma", "ΣΑΣ", []string{"σασ"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := index.Words(tc.text); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTokensStopWhenTold(t *testing.T) {
	t.Parallel()
	for tok := range index.Tokens("a b c") {
		if tok != (index.Token{Start: 0, End: 1}) {
			t.Fatalf("got %v after the break", tok)
		}
		break
	}
}

func TestPartsOfAnIdentifier(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ id, want string }{
		{"", ""},
		{"user", ""},
		{"userName", "user name"},
		{"HTTPServer", "http server"},
		{"parseHTTPRequest", "parse http request"},
		{"snake_case_name", "snake case name"},
		{"__init__", "init"},
		{"SCREAMING_CASE", "screaming case"},
		{"ALLCAPS", ""},
		{"x509", "509"},
		{"sha256sum", "sha 256 sum"},
		{"HTTP2Server", "http2 http server"},
		{"base64Encode", "base64 base 64 encode"},
		{"getX", "get"},
		{"aB", ""},
		{"GrößeÄndern", "größe ändern"},
		{"日本語", ""},
		{"日本語Name", "日本語 name"},
		{"a\xffbc", "bc"},
	} {
		if got := strings.Join(index.PartsOf(tc.id), " "); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.id, got, tc.want)
		}
	}
}

func TestTokenBelongsToTheDocumentItBeginsIn(t *testing.T) {
	t.Parallel()
	const text = "alpha betaGamma delta"
	f := index.File{Path: "a", Text: text, Docs: []index.Doc{{Start: 0, End: 8}, {Start: 8, End: 16}, {Start: 16, End: 21}, {Start: 21, End: 21}}}
	x := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 0), chunkSchema, []index.File{f})})
	for word, want := range map[string]string{"alpha": "0", "betagamma": "0", "delta": "2", "gamma": "", "elta": ""} {
		if got := docsWith(t, x, 0, word); got != want {
			t.Errorf("%s is in documents %q, want %q", word, got, want)
		}
	}
	if got := docsWith(t, x, 1, "gamma"); got != "0" {
		t.Errorf("the part gamma is in documents %q, want 0", got)
	}
	if got, want := x.AvgLen(0), 3.0/4; got != want {
		t.Errorf("average length %g, want %g", got, want)
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "a_b", "fooBar2Baz", "Größe\xff日本語", "İ ſ K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want []index.Token
		for _, tok := range modelTokens(s) {
			want = append(want, index.Token{Start: tok.at, End: tok.at + len(tok.text)})
		}
		if got := slices.Collect(index.Tokens(s)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
		for _, p := range index.PartsOf(s) {
			if p == "" || !strings.Contains(index.Fold(s), p) {
				t.Errorf("%q has part %q", s, p)
			}
		}
	})
}
