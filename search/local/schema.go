package local

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
)

// Fields of the entity index.
const (
	fName = iota
	fNameParts
	fNameJoins // neighbouring parts of the name as one word
	fText      // signature and description
	fTextParts
	fContent
	fContentParts
	fLanguage
	fType
	fExact   // the whole name, see exactName
	fWritten // the whole name as it is
	fFolded  // the whole name in lower case
	fPlace   // see placeOf
	fPlaceParts
)

// Attributes of the entity index.
const (
	aTest = iota
	aRank
)

var entitySchema = index.Schema{
	Fields: []index.Field{
		fName:         {Name: "name"},
		fNameParts:    {Name: "name_parts", Kind: index.Parts, Of: fName},
		fNameJoins:    {Name: "name_joins"},
		fText:         {Name: "text"},
		fTextParts:    {Name: "text_parts", Kind: index.Parts, Of: fText},
		fContent:      {Name: "content"},
		fContentParts: {Name: "content_parts", Kind: index.Parts, Of: fContent},
		fLanguage:     {Name: "language", Kind: index.Keyword},
		fType:         {Name: "type", Kind: index.Keyword},
		fExact:        {Name: "exact", Kind: index.Keyword},
		fWritten:      {Name: "written", Kind: index.Keyword},
		fFolded:       {Name: "folded", Kind: index.Keyword},
		fPlace:        {Name: "place"},
		fPlaceParts:   {Name: "place_parts", Kind: index.Parts, Of: fPlace},
	},
	Attrs: []string{aTest: "test", aRank: "rank"},
}

// entityFields tells the parser of plain words where to look.
var entityFields = query.EntityFields{
	Name:    query.FieldGroup{Whole: fName, Parts: fNameParts},
	Joins:   fNameJoins,
	Place:   query.FieldGroup{Whole: fPlace, Parts: fPlaceParts},
	Text:    query.FieldGroup{Whole: fText, Parts: fTextParts},
	Body:    query.FieldGroup{Whole: fContent, Parts: fContentParts},
	Written: fWritten,
	Folded:  fFolded,
	Exact:   fExact,
	Test:    aTest,
	Search:  query.Analysis{Tokens: tokens, Fold: index.Fold, Parts: index.PartsOf},
}

// Fields of the text index, and its attributes.
const (
	fChunk = iota
	fChunkParts

	aChunk = iota - 2
	aLineStart
	aLineEnd
)

// maxChunkToken is the length in bytes from which the session tools' contract
// has a token dropped.
const maxChunkToken = 40

var textSchema = index.Schema{
	Fields: []index.Field{
		fChunk:      {Name: "content", Kind: index.Content},
		fChunkParts: {Name: "parts", Kind: index.Parts, Of: fChunk},
	},
	Attrs:    []string{aChunk: "chunk", aLineStart: "line_start", aLineEnd: "line_end"},
	Trigrams: true,
	MaxToken: maxChunkToken,
}

func schemaOf(p Part) index.Schema {
	if p == Texts {
		return textSchema
	}
	return entitySchema
}

// ChunkFields tells the parser of the session tools' query language how chunks
// are indexed.
func (*Index) ChunkFields() query.ChunkFields {
	return query.ChunkFields{Content: fChunk, Parts: fChunkParts, MaxToken: maxChunkToken, Words: index.Words}
}

func tokens(text string) []string {
	var words []string
	for t := range index.Tokens(text) {
		words = append(words, text[t.Start:t.End])
	}
	return words
}

// entityFile makes the file that the index gets for the records of a path.
func entityFile(path string, records []search.Record) index.File {
	f := index.File{Path: path}
	for _, r := range records {
		start := uint32(min(max(r.LineStart, 0), math.MaxUint32))
		f.Docs = append(f.Docs, index.Doc{
			Start: start,
			End:   max(start, uint32(min(max(r.LineEnd, 0), math.MaxUint32))),
			Text: []string{
				fName:      r.EntityName,
				fNameJoins: strings.Join(nameJoins(r.EntityName), " "),
				fText:      r.Signature + "\n" + r.Description,
				fContent:   r.Content,
				fLanguage:  r.Language,
				fType:      string(r.EntityType),
				fExact:     exactName(r.EntityName),
				fWritten:   r.EntityName,
				fFolded:    index.Fold(r.EntityName),
				fPlace:     placeOf(path, r.EntityName, r.Description),
			},
			Attrs:   []uint32{aTest: uint32(max(r.IsTest, 0)), aRank: uint32(max(r.RankWeight, 0))},
			Payload: encodeRecord(r),
		})
	}
	return f
}

// textFile makes the file that the index gets for a text.
func textFile(path, hash, text string, chunks []codesage.Chunk) (index.File, error) {
	f := index.File{Path: path, Text: text}
	if n, err := hex.Decode(f.Hash[:], []byte(hash)); err != nil || n != len(f.Hash) {
		return f, fmt.Errorf("put text of %q: hash %q is not one of git", path, hash)
	}
	for _, c := range chunks {
		f.Docs = append(f.Docs, index.Doc{
			Start: uint32(c.Start), End: uint32(c.End),
			Attrs: []uint32{aChunk: uint32(c.Index), aLineStart: uint32(c.LineStart), aLineEnd: uint32(c.LineEnd)},
		})
	}
	return f, nil
}

// exactName is the form in which a name and a query are equal: letters and
// digits in lower case, without what stands between them.
func exactName(s string) string { return index.Fold(strings.Join(tokens(s), "")) }

// placeOf returns what an entity is in: its owner, which the description has
// before the name ("Go function: Server.Start"), and the folder and the file of
// its path, without the file's extension. A folder that says nothing stands for
// the one above it too.
func placeOf(path, name, description string) string {
	_, qualified, _ := strings.Cut(description, ": ")
	owner, ok := strings.CutSuffix(qualified, name)
	if !ok {
		owner = ""
	}
	folders := strings.Split(path, "/")
	file, _, _ := strings.Cut(folders[len(folders)-1], ".")
	folders = folders[:len(folders)-1]
	near := max(0, len(folders)-1)
	for near > 0 && saysNothing(folders[near]) {
		near--
	}
	return owner + " " + strings.Join(folders[near:], " ") + " " + file
}

// saysNothing reports whether a folder is one that many packages have.
func saysNothing(folder string) bool {
	switch folder {
	case "src", "lib", "source", "main", "internal", "pkg", "include":
		return true
	}
	_, err := strconv.ParseUint(strings.TrimPrefix(folder, "v"), 10, 32)
	return err == nil
}

// Limits of nameJoins, for names that are sentences.
const (
	maxHumps = 12
	maxJoin  = 64 // bytes
)

// nameJoins returns the runs of two and more neighbouring parts of a name, each
// as one word, so that WithState finds TestShallowWithState in any spelling. The
// runs of a single token that are that token are left out.
func nameJoins(name string) []string {
	var humps []string
	for _, t := range tokens(name) {
		humps = appendHumps(humps, t)
	}
	humps = humps[:min(len(humps), maxHumps)]
	var joins []string
	for i := range humps {
		join := humps[i]
		for _, h := range humps[i+1:] {
			if join += h; len(join) > maxJoin {
				break
			}
			joins = append(joins, join)
		}
	}
	return joins
}

// appendHumps cuts a token where its case or its kind of character changes:
// parseHTML5Page gives parse, HTML, 5, Page.
func appendHumps(dst []string, token string) []string {
	start := 0
	var last, before rune // the character before, and the one before that
	lastAt := 0
	for i, r := range token {
		switch {
		case i == 0:
		case unicode.IsDigit(r) != unicode.IsDigit(last), unicode.IsUpper(r) && unicode.IsLower(last):
			dst, start = append(dst, token[start:i]), i
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before) && lastAt > start:
			dst, start = append(dst, token[start:lastAt]), lastAt
		}
		before, last, lastAt = last, r, i
	}
	return append(dst, token[start:])
}

// encodeRecord packs what of a record is neither in the index's tables nor in
// the snapshot.
func encodeRecord(r search.Record) []byte {
	b := binary.AppendVarint(nil, int64(r.Run))
	for _, n := range []int{r.LineStart, r.LineEnd, r.IsTest, r.RankWeight} {
		b = binary.AppendVarint(b, int64(n))
	}
	for _, s := range []string{r.ObjectID, r.RepositoryName, string(r.EntityType), r.EntityName, r.Language, r.Signature, r.Content, r.Description} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// errRecord reports a record that contradicts itself.
var errRecord = fmt.Errorf("stored record: %w", index.ErrCorrupt)

// decodeRecord is the inverse of encodeRecord.
func decodeRecord(b []byte) (r search.Record, err error) {
	var run, lineStart, lineEnd, isTest, rank int64
	for _, n := range []*int64{&run, &lineStart, &lineEnd, &isTest, &rank} {
		v, size := binary.Varint(b)
		if size <= 0 {
			return r, errRecord
		}
		*n, b = v, b[size:]
	}
	r.Run = codesage.RunID(run)
	r.LineStart, r.LineEnd, r.IsTest, r.RankWeight = int(lineStart), int(lineEnd), int(isTest), int(rank)
	var entityType string
	for _, s := range []*string{&r.ObjectID, &r.RepositoryName, &entityType, &r.EntityName, &r.Language, &r.Signature, &r.Content, &r.Description} {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return r, errRecord
		}
		*s, b = string(b[size:size+int(n)]), b[size+int(n):]
	}
	r.EntityType = codesage.EntityType(entityType)
	return r, nil
}

// errNotUTF8 refuses paths that JSON and the contracts can't hold.
var errNotUTF8 = errors.New("path is empty or not UTF-8")

func checkPath(path string) error {
	if path == "" || !utf8.ValidString(path) {
		return fmt.Errorf("put %q: %w", path, errNotUTF8)
	}
	return nil
}
