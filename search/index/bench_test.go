package index_test

import (
	"bytes"
	"context"
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unicode/utf8"

	"codesage/search/index"
	"codesage/search/query"
)

// The benchmarks index the sources of the Go distribution as chunks of 512
// characters that overlap by 64.

var benchSchema = index.Schema{
	Fields:   []index.Field{{Name: "content", Kind: index.Content}, {Name: "parts", Kind: index.Parts, Of: 0}},
	Trigrams: true,
	MaxToken: 40,
}

type benchCorpus struct {
	files []index.File
	bytes int64
}

var loadCorpus = sync.OnceValue(func() benchCorpus {
	var c benchCorpus
	root := filepath.Join(build.Default.GOROOT, "src")
	filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil || len(b) == 0 || len(b) > 1<<20 || bytes.IndexByte(b[:min(len(b), 4096)], 0) >= 0 {
			return nil
		}
		rel, _ := filepath.Rel(root, p)
		f := index.File{Path: filepath.ToSlash(rel), Text: string(b)}
		f.Docs = chunks(f.Text, 512, 64)
		c.files = append(c.files, f)
		c.bytes += int64(len(b))
		return nil
	})
	return c
})

// chunks cuts a text into overlapping ranges of size characters.
func chunks(text string, size, overlap int) (docs []index.Doc) {
	step := func(i, n int) int {
		for ; n > 0 && i < len(text); n-- {
			_, w := utf8.DecodeRuneInString(text[i:])
			i += w
		}
		return i
	}
	for start := 0; start < len(text); {
		next := step(start, size-overlap)
		docs = append(docs, index.Doc{Start: uint32(start), End: uint32(step(next, overlap))})
		start = next
	}
	return docs
}

func buildCorpus(b *testing.B, path string, files []index.File) {
	b.Helper()
	if err := writeFiles(path, index.WriterOptions{Schema: benchSchema}, files); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkBuild(b *testing.B) {
	c := loadCorpus()
	path := filepath.Join(b.TempDir(), "x.seg")
	b.SetBytes(c.bytes)
	for b.Loop() {
		buildCorpus(b, path, c.files)
	}
	st, _ := os.Stat(path)
	b.ReportMetric(float64(st.Size())/float64(c.bytes), "index/source")
	b.ReportMetric(float64(len(c.files))*float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

// BenchmarkUpdate replaces one file of 50 KB: a segment, a manifest and the new
// view, all durable.
func BenchmarkUpdate(b *testing.B) {
	dir := b.TempDir()
	text := newGen(1).text(13_000)
	f := index.File{Path: "a.go", Text: text, Docs: chunks(text, 512, 64)}
	w, err := index.NewWriter(index.WriterOptions{Schema: benchSchema, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	owner := newOwner(b, dir)
	for b.Loop() {
		m := manifestOf(owner.NewSegment())
		err := errors.Join(w.Add(f), w.Finish(filepath.Join(dir, m.Segments[0].Name)), owner.WriteManifest("m.json", m))
		if err != nil {
			b.Fatal(err)
		}
		x, err := index.OpenIndex(dir, "m.json", nil)
		if err != nil {
			b.Fatal(err)
		}
		x.Close()
	}
}

func words(ws ...string) query.Or {
	var q query.Or
	for _, w := range ws {
		q = append(q, query.Term{Text: w}, query.Term{Field: 1, Text: w, Weight: 0.5})
	}
	return q
}

var benchQueries = []struct {
	name string
	q    query.Query
}{
	{"rare", query.Or{query.Term{Text: "shallowwithstate"}, query.Term{Text: "unmarshaltyped"}}},
	{"error", query.Term{Text: "error"}},
	{"mutexANDunlock", query.And{query.Term{Text: "mutex"}, query.Term{Text: "unlock"}}},
	{"3wordOR", query.Or{query.Term{Text: "context"}, query.Term{Text: "cancel"}, query.Term{Text: "deadline"}}},
	{"5wordOR", query.Or{query.Term{Text: "parse"}, query.Term{Text: "request"}, query.Term{Text: "header"}, query.Term{Text: "value"}, query.Term{Text: "token"}}},
	{"5wordORwithParts", words("parse", "request", "header", "value", "token")},
	{"question", words("how", "does", "the", "http", "client", "follow", "redirects")},
	{"phraseIfErrNil", query.Phrase{Words: []string{"if", "err", "nil"}}},
	{"phraseUseOf", query.Phrase{Words: []string{"use", "of", "this", "source", "code"}}},
	{"boolean", query.Not{Q: query.And{query.Or{query.Term{Text: "tls"}, query.Term{Text: "certificate"}},
		query.Or{query.Term{Text: "verify"}, query.Term{Text: "handshake"}}}, Except: query.Term{Text: "test"}}},
	{"pathWord", query.And{query.Term{Text: "request"}, query.Term{Text: "header"}, query.PathWord("http")}},
	{"pathMatchAlone", query.Const{Q: query.PathMatch("controller"), Score: 1}},
	{"prefix", query.Prefix{Text: "unmars"}},
	{"5wordORNOTtest", query.Not{Q: words("parse", "request", "header", "value", "token"), Except: query.Term{Text: "test"}}},
}

func BenchmarkSearch(b *testing.B) {
	c := loadCorpus()
	dir := b.TempDir()
	path := filepath.Join(dir, "x.seg")
	buildCorpus(b, path, c.files)
	s, err := index.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var some index.FileSet // one file in ten, spread out
	for f := 0; f < s.Files(); f += 10 {
		some.Add(f)
	}
	for _, state := range []struct {
		name string
		del  index.FileSet
	}{{"whole", nil}, {"10%deleted", some}} {
		x := newIndex(b, index.Part{Segment: s, Deleted: state.del})
		for _, k := range []int{10, 200} {
			for _, q := range benchQueries {
				b.Run(state.name+"/"+q.name+"/k"+map[int]string{10: "10", 200: "200"}[k], func(b *testing.B) {
					for b.Loop() {
						if _, err := x.Search(context.Background(), q.q, index.Options{K: k}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkDictionary(b *testing.B) {
	c := loadCorpus()
	path := filepath.Join(b.TempDir(), "x.seg")
	buildCorpus(b, path, c.files)
	s, err := index.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	x := newIndex(b, index.Part{Segment: s})
	b.Run("Near/conecton", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Near(context.Background(), 0, "conecton", 10); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Terms/unmars", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Terms(context.Background(), 0, "unmars", 100); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Candidates/context.Background()", func(b *testing.B) {
		for b.Loop() {
			if err := x.Candidates(context.Background(), index.Literal("context.Background()"), func(*index.FileMatch) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			s, err := index.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	})
}
