package source_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"codesage/pipeline/source"
)

func TestBlobHashIsThatOfGit(t *testing.T) {
	t.Parallel()
	const empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	if got := source.BlobHash(nil); got != empty {
		t.Errorf("hash of no bytes = %s, want %s", got, empty)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	for _, data := range []string{"", "a", "hello\n", "\x00\xff", "a\r\nb", strings.Repeat("x", 100_000)} {
		cmd := exec.Command("git", "hash-object", "--stdin", "--no-filters")
		cmd.Stdin = bytes.NewReader([]byte(data))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := source.BlobHash([]byte(data)), strings.TrimSpace(string(out)); got != want {
			t.Errorf("hash of %.10q = %s, want %s", data, got, want)
		}
	}
}
