package query

// ChunkFields are the fields of an index of chunks, and how it cuts texts.
type ChunkFields struct {
	Content  int // the words
	Parts    int // the parts of identifiers
	MaxToken int // bytes from which a word is not indexed; it keeps its position
	Words    func(text string) []string
}
