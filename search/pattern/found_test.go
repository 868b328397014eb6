package pattern

import (
	"regexp"
	"testing"
)

// found reports whether a Go expression is found in a text.
func found(t *testing.T, expr, text string) bool {
	t.Helper()
	re, err := regexp.Compile(expr)
	if err != nil {
		t.Fatalf("index expression %q: %v", expr, err)
	}
	return re.MatchString(text)
}
