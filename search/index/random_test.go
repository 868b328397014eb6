package index_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

var chunkSchema = index.Schema{
	Fields:   []index.Field{{Name: "content", Kind: index.Content}, {Name: "parts", Kind: index.Parts, Of: 0}},
	Trigrams: true,
	MaxToken: 12,
}

var entitySchema = index.Schema{
	Fields: []index.Field{{Name: "name"}, {Name: "name parts", Kind: index.Parts}, {Name: "body"},
		{Name: "language", Kind: index.Keyword}},
	Attrs: []string{"is_test", "rank_weight"},
}

// A gen makes random corpora and queries.
type gen struct{ *rand.Rand }

func newGen(seed uint64) gen { return gen{rand.New(rand.NewPCG(seed, 1))} }

func (g gen) word() string {
	n := g.IntN(1 + g.IntN(40))
	w := fmt.Sprintf("%c%c", 'a'+n%26, 'a'+n/26)
	switch g.IntN(14) {
	case 0:
		return w + "_" + fmt.Sprintf("%c%c", 'a'+g.IntN(6), 'a')
	case 1:
		return strings.ToUpper(w[:1]) + w[1:] + "Xy"
	case 2:
		return "é" + w
	case 3:
		return w + "64" + w
	case 4:
		return w + "LongEnoughToGo" + w
	}
	return w
}

func (g gen) text(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(g.word())
		b.WriteString([]string{" ", "\n", ".", "—", "\xff"}[g.IntN(5)])
	}
	return b.String()
}

// chunks is a file cut into overlapping documents, at any byte.
func (g gen) chunks(path string) index.File {
	f := index.File{Path: path, Hash: index.Hash{byte(g.IntN(256))}, Text: g.text(g.IntN(300))}
	for at := 0; at < len(f.Text); at += 100 {
		f.Docs = append(f.Docs, index.Doc{Start: uint32(at), End: uint32(min(at+115, len(f.Text)))})
	}
	return f
}

func (g gen) entities(path string) index.File {
	f := index.File{Path: path, Hash: index.Hash{byte(g.IntN(256))}}
	for i := range g.IntN(8) {
		f.Docs = append(f.Docs, index.Doc{
			Start: uint32(i), End: uint32(i + 1),
			Text:    []string{g.text(1 + g.IntN(2)), "", g.text(g.IntN(30)), []string{"go", "rust", "c"}[g.IntN(3)]},
			Attrs:   []uint32{uint32(g.IntN(2)), uint32(g.IntN(5))},
			Payload: []byte(g.text(g.IntN(3))),
		})
	}
	return f
}

// files makes n files with different paths.
func (g gen) files(schema index.Schema, prefix string, n int) []index.File {
	files := make([]index.File, n)
	for i := range files {
		path := fmt.Sprintf("d%d/%s/fileName%d.go", g.IntN(4), prefix, i)
		if schema.Fields[0].Kind == index.Content {
			files[i] = g.chunks(path)
		} else {
			files[i] = g.entities(path)
		}
	}
	return files
}

func (g gen) term(schema index.Schema) query.Term {
	f := g.IntN(len(schema.Fields))
	if schema.Fields[f].Kind == index.Keyword {
		f = 0
	}
	w := index.Words(g.word())[0]
	return query.Term{Field: f, Text: w, Weight: []float64{0, 0, 0.5, 2.5}[g.IntN(4)]}
}

func (g gen) query(schema index.Schema, depth int) query.Query {
	t := g.term(schema)
	n := 16
	if depth <= 0 {
		n = 9
	}
	switch g.IntN(n) {
	default:
		return t
	case 3:
		if schema.Fields[t.Field].Kind == index.Parts {
			return t
		}
		words := []string{t.Text, g.term(schema).Text}
		if g.IntN(4) == 0 {
			words = []string{t.Text, "", g.term(schema).Text}
		}
		return query.Phrase{Field: t.Field, Words: words, Weight: t.Weight}
	case 4:
		return query.Prefix{Field: t.Field, Text: t.Text[:1], Weight: t.Weight}
	case 5:
		return g.filter(schema)
	case 6:
		return query.Const{Q: g.filter(schema), Score: float64(g.IntN(3))}
	case 9, 10:
		return query.And{g.query(schema, depth-1), g.query(schema, depth-1)}
	case 11, 12:
		q := query.Or{}
		for range g.IntN(6) {
			q = append(q, g.term(schema))
		}
		return q
	case 13:
		return query.Not{Q: g.query(schema, depth-1), Except: g.query(schema, depth-1)}
	case 14:
		return query.And{g.query(schema, depth-1), g.filter(schema)}
	case 15:
		return query.Or{g.query(schema, depth-1), g.query(schema, depth-1), g.query(schema, depth-1)}
	}
}

func (g gen) filter(schema index.Schema) query.Query {
	switch g.IntN(8) {
	case 0:
		return query.PathWord(fmt.Sprintf("d%d", g.IntN(5)))
	case 1:
		return query.PathMatch(fmt.Sprintf("D%d/S", g.IntN(4)))
	case 2:
		return query.PathFunc{Name: "even", Accept: func(p string) bool { return len(p)%2 == 0 }}
	case 3:
		return query.PathWord("name")
	case 4:
		return query.Not{Q: query.All{}, Except: g.term(schema)}
	case 5:
		if len(schema.Attrs) > 0 {
			return query.Attr{Attr: g.IntN(2), Min: uint32(g.IntN(2)), Max: uint32(g.IntN(4))}
		}
	case 6:
		if len(schema.Attrs) > 0 {
			return query.Keyword{Field: 3, Text: []string{"go", "rust", "none"}[g.IntN(3)]}
		}
	}
	return query.All{}
}

// writeSegment writes files to a segment with a small budget and opens it.
func writeSegment(t testing.TB, path string, schema index.Schema, files []index.File) *index.Segment {
	t.Helper()
	if err := writeFiles(path, index.WriterOptions{Schema: schema, Budget: 50 << 10}, files); err != nil {
		t.Fatal(err)
	}
	s, err := index.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Verify(); err != nil {
		t.Fatal(err)
	}
	return s
}

// writeFiles writes files to a segment. After an error nothing is left.
func writeFiles(path string, opt index.WriterOptions, files []index.File) error {
	opt.Dir = filepath.Dir(path)
	w, err := index.NewWriter(opt)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, f := range files {
		if err := w.Add(f); err != nil {
			return err
		}
	}
	return w.Finish(path)
}

func newIndex(t testing.TB, parts ...index.Part) *index.Index {
	t.Helper()
	x, err := index.NewIndex(parts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func segPath(t testing.TB, n int) string { return filepath.Join(t.TempDir(), fmt.Sprintf("%d.seg", n)) }
