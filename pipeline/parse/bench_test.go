package parse

import "testing"

// BenchmarkPool parses a source tree through one process.
func BenchmarkPool(b *testing.B) {
	p := NewPool(Config{Processes: 1})
	defer p.Close()
	files, bytes := goTree(b), 0
	for _, text := range files {
		bytes += len(text)
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for name, text := range files {
			if _, err := p.Parse(b.Context(), "go", name, text); err != nil {
				b.Fatal(err)
			}
		}
	}
}
