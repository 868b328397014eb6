package git

import (
	"strings"
	"testing"
)

func TestPathsThatAreShownChangedStayApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	seen := map[string]string{}
	for _, path := range []string{long, long + "a", long + "b", "a\nb", `a\nb`, "a\xffb", "a\xfeb", "plain", "d/../plain"} {
		text := shown(path)
		if other, ok := seen[text]; ok {
			t.Errorf("%q and %q are both shown as %q", path, other, text)
		}
		seen[text] = path
	}
	if shown("plain") != "plain" {
		t.Errorf("got %q", shown("plain"))
	}
}
