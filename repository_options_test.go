package codesage_test

import (
	"testing"

	"codesage"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ chunk, overlap, wantSize, wantOverlap int }{
		{0, 0, 512, 64}, {100, 0, 100, 64}, {100, -1, 100, 0}, {0, 20, 512, 20}, {40, 0, 40, 39}, {1, 0, 1, 0},
	} {
		size, overlap := codesage.IndexOptions{ChunkSize: tc.chunk, Overlap: tc.overlap}.Window()
		if size != tc.wantSize || overlap != tc.wantOverlap {
			t.Errorf("Window(%d, %d) = %d, %d, want %d, %d", tc.chunk, tc.overlap, size, overlap, tc.wantSize, tc.wantOverlap)
		}
	}
}

func TestAnEmptyListOfExcludesIsNoDefault(t *testing.T) {
	t.Parallel()
	if got := codesage.Excluding(nil); got != nil {
		t.Errorf("no choice: got %q", got)
	}
	if got := codesage.Excluding([]string{}); len(got) != 1 || got[0] != codesage.ExcludeNothing {
		t.Errorf("an empty list: got %q", got)
	}
	if got := codesage.Excluding([]string{"a/**"}); len(got) != 1 || got[0] != "a/**" {
		t.Errorf("a list: got %q", got)
	}
}
