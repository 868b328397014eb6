package codesage

// The default window of a chunk, in code points.
const (
	DefaultChunkSize = 512
	DefaultOverlap   = 64
)

// Chunk is an overlapping window of a file's text.
type Chunk struct {
	Index     int // position among the file's chunks, from 0
	Start     int // first byte in the text
	End       int // byte after the last
	LineStart int // 1-based line of the first byte
	LineEnd   int // 1-based line of the last byte
}
