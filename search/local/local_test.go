package local

import (
	"testing"

	"codesage/search"
	"codesage/search/searchtest"
)

func openTest(t *testing.T, o Options) *Index {
	t.Helper()
	x, err := Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestContract(t *testing.T) {
	searchtest.Run(t, func(t *testing.T) search.Engine { return openTest(t, Options{}) }, searchtest.Options{})
}
