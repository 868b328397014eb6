package decode

import (
	"strings"
	"testing"
	"unicode/utf8"

	"codesage"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("ab", 32) + "\nsize 12345\n"
	for _, tc := range []struct {
		name, path, data string
		want             string
		reason           codesage.SkipReason
	}{
		{name: "empty", path: "z.go"},
		{name: "UTF-8", path: "a.go", data: "héllo\r\n", want: "héllo\r\n"},
		{name: "a mark of UTF-8", path: "m.py", data: "\xEF\xBB\xBFdef alpha():\n", want: "def alpha():\n"},
		{name: "one mark only is dropped", path: "m.py", data: "\xEF\xBB\xBF\xEF\xBB\xBFx", want: "\uFEFFx"},
		{name: "a binary ending", path: "d/logo.PNG", data: "plain text", reason: codesage.SkipBinary},
		{name: "an ending that may be text", path: "a.dat", data: "plain text", want: "plain text"},
		{name: "a NUL at once", path: "a.go", data: "a\x00b", reason: codesage.SkipBinary},
		{name: "a NUL at the end of 8 KiB", path: "a.go", data: strings.Repeat("a", 8191) + "\x00", reason: codesage.SkipBinary},
		{name: "a NUL behind 8 KiB", path: "a.go", data: strings.Repeat("a", 8192) + "\x00", want: strings.Repeat("a", 8192) + "\x00"},
		{name: "UTF-16 little end", path: "a.txt", data: "\xFF\xFEh\x00\xe9\x00\n\x00", want: "hé\n"},
		{name: "UTF-16 big end", path: "a.txt", data: "\xFE\xFF\x00h\x00\xe9\x00\n", want: "hé\n"},
		{name: "UTF-16 beyond the first plane", path: "a.txt", data: "\xFE\xFF\xD8\x3D\xDE\x00", want: "😀"},
		{name: "UTF-16 with half a pair", path: "a.txt", data: "\xFE\xFF\xD8\x3D\x00a", want: "\uFFFDa"},
		{name: "UTF-16 with an odd byte", path: "a.txt", data: "\xFE\xFF\x00a\x00", want: "a\uFFFD"},
		{name: "UTF-16 mark alone", path: "a.txt", data: "\xFF\xFE"},
		{name: "UTF-16 with a NUL", path: "a.txt", data: "\xFF\xFEa\x00\x00\x00", reason: codesage.SkipBinary},
		{name: "no UTF-16", path: "a.txt", data: "\xFE\xFF" + strings.Repeat("\xD8\x00\x00a", 20), reason: codesage.SkipEncoding},
		{name: "UTF-32", path: "a.txt", data: "\xFF\xFE\x00\x00a\x00\x00\x00", reason: codesage.SkipBinary},
		{name: "UTF-16 without a mark", path: "a.txt", data: "h\x00i\x00", reason: codesage.SkipBinary},
		{name: "Latin-1", path: "a.c", data: "/* caf\xe9 \xa9 */\n", want: "/* café © */\n"},
		{name: "Latin-1, 95 of 100 printable", path: "a.c", data: strings.Repeat("a", 94) + "\xe9" + strings.Repeat("\x81", 5), want: strings.Repeat("a", 94) + "é" + strings.Repeat("\u0081", 5)},
		{name: "Latin-1, 94 of 100 printable", path: "a.c", data: strings.Repeat("a", 93) + "\xe9" + strings.Repeat("\x81", 6), reason: codesage.SkipEncoding},
		{name: "git-lfs pointer", path: "model.dat", data: pointer, reason: codesage.SkipLFS},
		{name: "git-lfs pointer of a binary", path: "logo.png", data: pointer, reason: codesage.SkipBinary},
		{name: "a text about git-lfs", path: "a.md", data: "version https://git-lfs.github.com/spec/v1 is the first line\n", want: "version https://git-lfs.github.com/spec/v1 is the first line\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, reason := Decode(tc.path, []byte(tc.data))
			if got != tc.want || reason != tc.reason {
				t.Errorf("Decode = %.60q, %q; want %.60q, %q", got, reason, tc.want, tc.reason)
			}
		})
	}
}

func TestBinaryName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a.png": true, "d.d/A.JPG": true, "x.tar.gz": true, ".DS_Store": true, "lib.so": true, "m.pyc": true,
		"a.go": false, "a.svg": false, "a.ts": false, "a.obj": false, "png": false, "a.png/b": false, "Makefile": false, "a.key": false,
	} {
		if got := BinaryName(name); got != want {
			t.Errorf("BinaryName(%q) = %v, want %v", name, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "a", "\xFF\xFEa\x00", "\xFE\xFF\xD8\x3D", "caf\xe9", "\xEF\xBB\xBFx\xff", "a\x00"} {
		f.Add("a.go", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, path string, data []byte) {
		text, reason := Decode(path, data)
		if !utf8.ValidString(text) {
			t.Errorf("text is not UTF-8: %q", text)
		}
		if reason != "" && text != "" {
			t.Errorf("text beside the reason %q", reason)
		}
		if reason == "" && text == "" && len(data) > 3 {
			t.Errorf("%q became empty", data)
		}
	})
}
