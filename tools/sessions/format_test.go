package sessions

import (
	"testing"
	"time"

	"codesage/search"
	"codesage/search/local"
	"codesage/search/query"
)

func TestNumbersAndTimesAreForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 500: "500 B", 1023: "1023 B", 1024: "1.00 KB", 1536: "1.50 KB", 50 << 20: "50.00 MB", 2 << 30: "2.00 GB", 5 << 40: "5120.00 GB"} {
		if got := byteSize(n); got != want {
			t.Errorf("byteSize(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 69904: "69,904", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
	now := time.Now()
	for d, want := range map[time.Duration]string{-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 45 * time.Minute: "45 minutes ago",
		119 * time.Minute: "1 hour ago", 5 * time.Hour: "5 hours ago", 47 * time.Hour: "1 day ago", 72 * time.Hour: "3 days ago"} {
		if got := ago(now.Add(-d), now); got != want {
			t.Errorf("ago(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestFencesCannotBeClosedByTheirText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a": "```go\na\n```", "a\n": "```go\na\n```", "": "```go\n```", "`a`": "```go\n`a`\n```",
		"```x\n": "````go\n```x\n````", "a ````` b": "``````go\na ````` b\n``````",
	} {
		if got := fenced("go", in); got != want {
			t.Errorf("fenced(%q) = %q, want %q", in, got, want)
		}
	}
	if got := fenced("text", "a"); got != "```\na\n```" {
		t.Errorf("got %q", got)
	}
}

func TestNeighbouringChunksAreShownOnce(t *testing.T) {
	t.Parallel()
	all := []search.ChunkHit{
		{Path: "a", Chunk: 0, Start: 0, End: 100}, {Path: "a", Chunk: 2, Start: 160, End: 260}, {Path: "a", Chunk: 1, Start: 80, End: 180},
		{Path: "a", Chunk: 3, Start: 260, End: 300}, {Path: "b", Chunk: 1, Start: 80, End: 180}, {Path: "a", Chunk: 5, Start: 301, End: 400},
	}
	fetches := 0
	fetch := func(n int) ([]search.ChunkHit, int, error) {
		fetches++
		return all[:min(n, len(all))], len(all), nil
	}
	for k, want := range map[int]string{1: "a0", 2: "a0 a2", 3: "a0 a2 b1", 4: "a0 a2 b1 a5", 9: "a0 a2 b1 a5"} {
		fetches = 0
		hits, err := fill(k, fetch)
		got := ""
		for _, h := range hits {
			got += " " + h.Path + string(rune('0'+h.Chunk))
		}
		if err != nil || got != " "+want || fetches > 2 {
			t.Errorf("k %d: got %s, want %s (%d fetches, %v)", k, got, want, fetches, err)
		}
	}
}

func TestQueriesThatOnlyExcludeOrNameAPathDoNotRank(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a": true, `"a b"`: true, "a NOT b": true, "file_path:x a": true, "NOT a": false, "-a": false, "file_path:x": false,
		"file_path:x AND NOT b": false, "NOT a AND NOT b": false, "file_path:a OR file_path:b": false,
	} {
		tree, err := query.ParseChunks(text, (*local.Index)(nil).ChunkFields())
		if err != nil {
			t.Fatal(err)
		}
		if got := scores(tree); got != want {
			t.Errorf("%s: got %v, want %v (%s)", text, got, want, tree)
		}
	}
}
