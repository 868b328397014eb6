package tools

import "testing"

func TestOneLineShowsWhatWouldBreakALine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"src/a b.go":                "src/a b.go",
		"größe/世界/😀👩‍💻.md":          "größe/世界/😀👩‍💻.md",
		`C:\new\x1b`:                `C:\new\x1b`,
		"a\nb\r\tc":                 `a\nb\r\tc`,
		"\x1b[31mred\x00\x7f":       `\x1b[31mred\x00\x7f`,
		"a\u0085b\u2028c\u2029":     `a\u0085b\u2028c\u2029`,
		"\u202egpj.exe\u2066\ufeff": `\u202egpj.exe\u2066\ufeff`,
		"bad\xff\xc3 \ufffd":        "bad\\xff\\xc3 \ufffd",
	} {
		got := OneLine(text)
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if back := Original(got); back != text && text != `C:\new\x1b` {
			t.Errorf("%q: got %q back", text, back)
		}
	}
}

func TestOriginalTakesOnlyWhatOneLineWrites(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`a\b`, `\`, `\\n`, `\d+\.go`, `\x41`, `\u00e9`, `\"`} {
		if got := Original(text); got != text && text != `a\b` && text != `\\n` {
			t.Errorf("%s: got %q", text, got)
		}
	}
}
