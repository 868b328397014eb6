package index_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codesage/search/index"
	"codesage/search/query"
)

// A model is the specification: a plain search over the same documents, with no
// index and no shortcuts. It holds live documents only.
type model struct {
	schema index.Schema
	bm     index.BM25
	docs   []modelDoc
	stats  map[string]modelStat
}

type modelDoc struct {
	path       string
	source     int
	seq        int // order of adding within the file
	start, end uint32
	fields     [][]string // tokens by position; "" for one that is not indexed
	attrs      []uint32
	payload    string
}

type modelStat struct{ idf, avg float64 }

func newModel(schema index.Schema) *model {
	return &model{schema: schema, bm: index.DefaultBM25, stats: map[string]modelStat{}}
}

// add adds the documents of a file, tokenized in the most direct way.
func (m *model) add(source int, f index.File) {
	content := modelTokens(f.Text)
	for seq, d := range f.Docs {
		md := modelDoc{path: f.Path, source: source, seq: seq, start: d.Start, end: d.End, payload: string(d.Payload)}
		md.attrs = make([]uint32, len(m.schema.Attrs))
		copy(md.attrs, d.Attrs)
		raw := make([][]string, len(m.schema.Fields))
		for i, fd := range m.schema.Fields {
			switch fd.Kind {
			case index.Content:
				for _, t := range content {
					if t.at >= int(d.Start) && t.at < int(d.End) {
						raw[i] = append(raw[i], t.text)
					}
				}
			case index.Text:
				for _, t := range modelTokens(d.Text[i]) {
					raw[i] = append(raw[i], t.text)
				}
			}
		}
		for i, fd := range m.schema.Fields {
			var toks []string
			switch fd.Kind {
			case index.Content, index.Text:
				for _, t := range raw[i] {
					if m.schema.MaxToken > 0 && len(t) >= m.schema.MaxToken {
						t = ""
					}
					toks = append(toks, strings.ToLower(t))
				}
			case index.Parts:
				for _, t := range raw[fd.Of] {
					for _, p := range index.PartsOf(t) {
						if m.schema.MaxToken == 0 || len(p) < m.schema.MaxToken {
							toks = append(toks, p)
						}
					}
				}
			case index.Keyword:
				toks = []string{d.Text[i]}
			}
			md.fields = append(md.fields, toks)
		}
		m.docs = append(m.docs, md)
	}
}

type modelToken struct {
	at   int
	text string
}

func modelTokens(s string) (toks []modelToken) {
	start := -1
	for i := 0; i <= len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		word := n > 0 && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r))
		if word && start < 0 {
			start = i
		}
		if !word && start >= 0 {
			toks = append(toks, modelToken{start, s[start:i]})
			start = -1
		}
		i += max(n, 1)
	}
	return toks
}

// tf counts the occurrences of a phrase, or of terms with a prefix.
func (m *model) tf(d *modelDoc, field int, words []string, prefix bool) (n int) {
	toks := d.fields[field]
next:
	for i := 0; i+len(words) <= len(toks); i++ {
		for j, w := range words {
			t := toks[i+j]
			if prefix && (t == "" || !strings.HasPrefix(t, w)) || !prefix && w != "" && t != w {
				continue next
			}
		}
		n++
	}
	return n
}

func (m *model) length(d *modelDoc, field int) (n int) {
	for _, t := range d.fields[field] {
		if t != "" {
			n++
		}
	}
	return n
}

func (m *model) stat(field int, words []string, prefix bool) modelStat {
	key := fmt.Sprint(field, prefix, strings.Join(words, " "))
	if st, ok := m.stats[key]; ok {
		return st
	}
	var st modelStat
	n := float64(len(m.docs))
	for i := range m.docs {
		st.avg += float64(m.length(&m.docs[i], field)) / n
	}
	for _, w := range words {
		if w == "" {
			continue
		}
		df := 0.0
		for i := range m.docs {
			if m.tf(&m.docs[i], field, []string{w}, prefix) > 0 {
				df++
			}
		}
		st.idf += math.Log(1 + (n-df+0.5)/(df+0.5))
	}
	m.stats[key] = st
	return st
}

func (m *model) leaf(d *modelDoc, field int, words []string, prefix bool, weight float64) (bool, float64) {
	tf := float64(m.tf(d, field, words, prefix))
	if tf == 0 {
		return false, 0
	}
	if weight == 0 {
		weight = 1
	}
	st := m.stat(field, words, prefix)
	norm := m.bm.K1 * (1 - m.bm.B + m.bm.B*float64(m.length(d, field))/st.avg)
	return true, float64(float32(st.idf * weight * tf * (m.bm.K1 + 1) / (tf + norm)))
}

func (m *model) match(d *modelDoc, q query.Query) (bool, float64) {
	switch q := q.(type) {
	case query.Term:
		return m.leaf(d, q.Field, []string{q.Text}, false, q.Weight)
	case query.Phrase:
		// A gap at the end of a phrase asks for nothing.
		words := q.Words
		for len(words) > 0 && words[len(words)-1] == "" {
			words = words[:len(words)-1]
		}
		if len(words) == 0 {
			return false, 0
		}
		return m.leaf(d, q.Field, words, false, q.Weight)
	case query.Prefix:
		return m.leaf(d, q.Field, []string{q.Text}, true, q.Weight)
	case query.And:
		sum := 0.0
		for _, c := range q {
			ok, s := m.match(d, c)
			if !ok {
				return false, 0
			}
			sum += s
		}
		return len(q) > 0, sum
	case query.Or:
		sum, any := 0.0, false
		for _, c := range q {
			if ok, s := m.match(d, c); ok {
				any, sum = true, sum+s
			}
		}
		return any, sum
	case query.Not:
		ok, s := m.match(d, q.Q)
		bad, _ := m.match(d, q.Except)
		return ok && !bad, s
	case query.Const:
		ok, _ := m.match(d, q.Q)
		return ok, q.Score
	case query.All:
		return true, 0
	case query.Keyword:
		return d.fields[q.Field][0] == q.Text, 0
	case query.Attr:
		return d.attrs[q.Attr] >= q.Min && d.attrs[q.Attr] <= q.Max, 0
	case query.PathWord:
		for _, t := range modelTokens(d.path) {
			if strings.ToLower(t.text) == string(q) || slices.Contains(index.PartsOf(t.text), string(q)) {
				return true, 0
			}
		}
		return false, 0
	case query.PathMatch:
		return strings.Contains(strings.ToLower(d.path), strings.ToLower(string(q))), 0
	case query.PathFunc:
		return q.Accept(d.path), 0
	}
	panic(fmt.Sprintf("model: %T", q))
}

// search returns every match in the order of results.
func (m *model) search(q query.Query) []modelHit {
	var hits []modelHit
	for i := range m.docs {
		if ok, s := m.match(&m.docs[i], q); ok {
			hits = append(hits, modelHit{&m.docs[i], s})
		}
	}
	slices.SortFunc(hits, func(a, b modelHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.path, b.path),
			cmp.Compare(a.source, b.source), cmp.Compare(a.seq, b.seq))
	})
	return hits
}

type modelHit struct {
	*modelDoc
	score float64
}
