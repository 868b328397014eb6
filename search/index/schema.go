package index

import (
	"encoding/json"
	"fmt"
)

// Limits of a schema.
const (
	MaxFields = 16
	MaxAttrs  = 16
)

// A Kind says where the terms of a field come from.
type Kind uint8

const (
	// Text fields hold the tokens of Doc.Text, with positions.
	Text Kind = iota
	// Content fields hold the tokens of File.Text that begin in the
	// document's byte range, with positions.
	Content
	// Parts fields hold the identifier parts of the tokens of the field
	// Of, without positions.
	Parts
	// Keyword fields hold Doc.Text as one term, as it is: a filter, which
	// has no score and no length.
	Keyword
)

// A Field describes one field of the documents of an index.
type Field struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Of   int    `json:"of,omitempty"` // the source of a Parts field
}

// A Schema describes the documents of a segment. Segments that are merged, or
// joined in one Index, must have equal schemas.
type Schema struct {
	Fields []Field `json:"fields"`
	// Attrs names the 32-bit attributes of a document.
	Attrs []string `json:"attrs,omitempty"`
	// Trigrams says that the distinct trigrams of File.Text are indexed.
	Trigrams bool `json:"trigrams,omitempty"`
	// MaxToken is the length in bytes from which a token is not indexed; it
	// keeps its position. Zero means 256, which is also the highest.
	MaxToken int `json:"max_token,omitempty"`
}

const defaultMaxToken = 256

// Validate reports what is wrong with a schema, nil for nothing.
func (s Schema) Validate() error {
	if n := len(s.Fields); n == 0 || n > MaxFields {
		return fmt.Errorf("schema with %d fields: need 1 to %d", n, MaxFields)
	}
	if n := len(s.Attrs); n > MaxAttrs {
		return fmt.Errorf("schema with %d attributes: at most %d", n, MaxAttrs)
	}
	if s.MaxToken < 0 || s.MaxToken > defaultMaxToken {
		return fmt.Errorf("schema with longest token %d: at most %d", s.MaxToken, defaultMaxToken)
	}
	for i, f := range s.Fields {
		if f.Kind > Keyword {
			return fmt.Errorf("schema field %d: no kind %d", i, f.Kind)
		}
		if f.Kind != Parts {
			continue
		}
		if f.Of < 0 || f.Of >= len(s.Fields) || s.Fields[f.Of].Kind > Content {
			return fmt.Errorf("schema field %d: parts of field %d, which has no tokens", i, f.Of)
		}
	}
	return nil
}

func (s Schema) maxToken() int {
	if s.MaxToken == 0 {
		return defaultMaxToken
	}
	return s.MaxToken
}

// encode returns the schema as it is kept in a segment. Equal schemas encode
// to equal bytes.
func (s Schema) encode() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings, numbers and booleans always encode
	}
	return b
}

// A Hash identifies the content of a file, such as its git blob hash. The
// index keeps it and never looks into it.
type Hash [20]byte

// A File is what a Writer adds: a file and the documents made from it.
type File struct {
	Path string
	Hash Hash
	// Text is the whole text: what trigrams and Content fields are made of.
	Text string
	Docs []Doc
}

// A Doc is the unit of search: a chunk of its file, or an entity in it.
type Doc struct {
	// Start and End are the byte range in the file.
	Start, End uint32
	// Text holds the text of each field by number. It may be shorter than
	// the schema; the entries of Content and Parts fields are not read.
	Text []string
	// Attrs holds the attributes by number; missing ones are zero.
	Attrs []uint32
	// Payload is kept and returned with hits, and not searched.
	Payload []byte
}
