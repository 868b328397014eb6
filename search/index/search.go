package index

import (
	"context"
	"fmt"

	"codesage/search/query"
)

// Options configure a search. The zero value of a limit means its default.
type Options struct {
	// K is how many hits to return, and Offset how many of the best to
	// leave out before them.
	K, Offset int
	// BM25 holds the ranking parameters; zero means DefaultBM25.
	BM25 BM25
	// Tie orders documents of equal score, before path and document order
	// do. It is negative when a comes first. Nil means no such order. The
	// matches are valid during the call only.
	Tie func(a, b *Match) int
	// MaxNodes limits the nodes of the query tree. Default 1,024.
	MaxNodes int
	// MaxTerms limits the distinct terms that a prefix may stand for in one
	// segment. Default 65,536.
	MaxTerms int
}

func (o Options) withDefaults() Options {
	if o.BM25 == (BM25{}) {
		o.BM25 = DefaultBM25
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = 1024
	}
	if o.MaxTerms <= 0 {
		o.MaxTerms = 1 << 16
	}
	return o
}

// A Ref names a document of one Index. It means nothing to any other Index.
type Ref struct {
	Part int // segment
	Doc  uint32
}

// A Hit is a document that matched, with copies of what is stored for it.
type Hit struct {
	Ref        Ref
	Source     int // which of the joined indexes, see Join
	Path       string
	Hash       Hash
	Start, End uint32 // bytes in the file
	Attrs      []uint32
	Payload    []byte
	Score      float64
}

// Search returns the best matches by descending score. Equal scores are ordered
// by opt.Tie, then path, then source, then the order in which the documents of
// the file were added: the order is total, and the same however the documents
// are spread over segments. Errors are ErrQuery, ErrCorrupt, ErrClosed or that
// of ctx.
func (x *Index) Search(ctx context.Context, q query.Query, opt Options) ([]Hit, error) {
	if opt.K <= 0 || opt.Offset < 0 {
		return nil, nil
	}
	var hits []Hit
	err := x.use(func() error {
		p, err := x.plan(ctx, q, opt)
		if err != nil {
			return err
		}
		c := &collector{x: x, k: opt.K + opt.Offset, tie: opt.Tie, need: -1}
		for i := range x.parts {
			c.part = i
			if err := p.search(i, q, c); err != nil {
				return err
			}
		}
		best := c.sorted()
		for _, e := range best[min(opt.Offset, len(best)):] {
			hits = append(hits, x.hit(e.ref, e.score))
		}
		return nil
	})
	return hits, wrap(err)
}

// Count returns the number of matches.
func (x *Index) Count(ctx context.Context, q query.Query, opt Options) (int, error) {
	n := 0
	err := x.Each(ctx, q, opt, func(*Match) error { n++; return nil })
	return n, err
}

// Each calls fn for every match, in the order of segments and documents, until
// fn returns an error, which Each returns. The Match is valid during the call
// only. K, Offset and Tie of the options are not used.
func (x *Index) Each(ctx context.Context, q query.Query, opt Options, fn func(*Match) error) error {
	var stopped error
	err := x.use(func() error {
		p, err := x.plan(ctx, q, opt)
		if err != nil {
			return err
		}
		for i := range x.parts {
			it, err := p.compile(i, q)
			if err != nil {
				return err
			}
			m := &Match{x: x, part: i, it: it}
			for m.doc = it.advance(0); m.doc != noDoc && p.stop.ok(); m.doc = it.advance(m.doc + 1) {
				if x.parts[i].isDeleted(m.doc) {
					continue
				}
				if stopped = fn(m); stopped != nil {
					return nil //nolint:nilerr // it is the caller's, not a fault of the index
				}
			}
			if err := p.failed(it); err != nil {
				return err
			}
		}
		return nil
	})
	if stopped != nil {
		return stopped
	}
	return wrap(err)
}

// Load returns the hit of a document that Each or Search gave, with a score of
// the caller's.
func (x *Index) Load(r Ref, score float64) (Hit, error) {
	if r.Part < 0 || r.Part >= len(x.parts) || uint64(r.Doc) >= uint64(x.parts[r.Part].seg.Docs()) {
		return Hit{}, fmt.Errorf("load document %d of segment %d: no such document", r.Doc, r.Part)
	}
	var h Hit
	err := x.use(func() error { h = x.hit(r, score); return nil })
	return h, err
}

func (x *Index) hit(r Ref, score float64) Hit {
	m := Match{x: x, part: r.Part, doc: r.Doc}
	h := Hit{Ref: r, Source: m.Source(), Path: m.Path(), Hash: m.Hash(), Score: score}
	h.Start, h.End = m.Range()
	for i := range x.schema.Attrs {
		h.Attrs = append(h.Attrs, m.Attr(i))
	}
	h.Payload = append(h.Payload, m.Payload()...)
	return h
}

// wrap says what was attempted.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("search: %w", err)
}

// A Match is a document during a call of Each or Options.Tie, and not after it.
type Match struct {
	x     *Index
	part  int
	doc   uint32
	it    cursor // at doc, or nil
	score float64
}

// Score returns the score of the document. It is computed on each call.
func (m *Match) Score() float64 {
	if m.it != nil {
		return m.it.score()
	}
	return m.score
}

// Ref returns the name of the document, for Load.
func (m *Match) Ref() Ref { return Ref{m.part, m.doc} }

// Source returns which of the joined indexes the document is of.
func (m *Match) Source() int { return m.x.parts[m.part].source }

// Path returns the path of the document's file.
func (m *Match) Path() string { return string(m.seg().name(m.seg().fileOf(m.doc))) }

// Hash returns the content hash of the document's file.
func (m *Match) Hash() Hash { return m.seg().hash(m.seg().fileOf(m.doc)) }

// Range returns the bytes of its file that the document stands for.
func (m *Match) Range() (start, end uint32) { return m.seg().docRange(m.doc) }

// Attr returns an attribute by number.
func (m *Match) Attr(i int) uint32 { return m.seg().attr(i, m.doc) }

// Len returns the number of tokens in a field.
func (m *Match) Len(field int) int { return int(m.seg().lens[field].of(m.doc)) }

// Payload returns the stored payload. It is mapped memory: copy it to keep it.
func (m *Match) Payload() []byte { return m.seg().payload(m.doc) }

func (m *Match) seg() *Segment { return m.x.parts[m.part].seg }
