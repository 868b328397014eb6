package local

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
)

// The benchmarks index the Go tree: run them on demand.

func openBench(b *testing.B) *Index {
	x, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close() })
	return x
}

func BenchmarkEntitySearch(b *testing.B) {
	x := openBench(b)
	at := codesage.Snapshot{Repository: 1, Run: 1}
	b.Logf("%d entities", indexGoEntities(b, x, at))
	for _, text := range []string{"ReadFrom", "error", "user name", "parse json number", "how does the http client follow redirects", "e",
		"clinet redirect", "WithState", "what handles tls certificates and websocket frames zzz", "http.Client", "errors.Is", "json decoder", "http client timeout"} {
		b.Run(text, func(b *testing.B) {
			total := 0
			for b.Loop() {
				r, err := x.Search(b.Context(), search.Query{Text: text, Scope: []codesage.Snapshot{at}, Limit: 10})
				if err != nil {
					b.Fatal(err)
				}
				total = r.TotalHits
			}
			b.ReportMetric(float64(total), "hits")
		})
	}
}

func BenchmarkTexts(b *testing.B) {
	x := openBench(b)
	at := codesage.Snapshot{Repository: 1, Run: 1}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			at.Run++
			w, err := x.BeginTexts(b.Context(), 1, 0, codesage.Run{ID: at.Run})
			if err != nil {
				b.Fatal(err)
			}
			size := int64(0)
			eachGoFile(b, func(path, text string) error {
				atomic.AddInt64(&size, int64(len(text)))
				return w.Put(b.Context(), path, testHash, text, cutBytes(text, 512, 64))
			})
			if err := w.Commit(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
		}
		b.ReportMetric(peakMB(), "peakMB")
	})
	for _, text := range []string{"error", "mutex AND unlock", `"if err != nil"`, "how does the client follow redirects", "NOT error", "unmars*"} {
		q, err := query.ParseChunks(text, (*Index)(nil).ChunkFields())
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := x.SearchChunks(b.Context(), at, q, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("refresh of a file", func(b *testing.B) {
		for b.Loop() {
			w, err := x.BeginTexts(b.Context(), 1, at.Run, codesage.Run{ID: at.Run + 1})
			if err != nil {
				b.Fatal(err)
			}
			text := fmt.Sprintf("package fmt // %d", at.Run)
			if err := w.Put(b.Context(), "fmt/print.go", testHash, text, cutBytes(text, 512, 64)); err != nil {
				b.Fatal(err)
			}
			if err := w.Commit(b.Context()); err != nil {
				b.Fatal(err)
			}
			at.Run++
		}
	})
	b.Run("candidates", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := x.Candidates(b.Context(), at, index.Literal("context.Background()")); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// peakMB is the highest resident memory of the process so far.
func peakMB() float64 {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}

const testHash = "0123456789abcdef0123456789abcdef01234567"

// cutBytes cuts a text into windows of size bytes, all on line 1.
func cutBytes(text string, size, overlap int) []codesage.Chunk {
	var chunks []codesage.Chunk
	for start := 0; start < len(text); start += size - overlap {
		end := min(start+size, len(text))
		chunks = append(chunks, codesage.Chunk{Index: len(chunks), Start: start, End: end, LineStart: 1, LineEnd: 1})
	}
	return chunks
}
