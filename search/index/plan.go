package index

import (
	"context"
	"fmt"
	"math"
	"strings"

	"codesage/search/query"
)

// maxDepth limits the nesting of a query tree.
const maxDepth = 200

// A plan holds what a query needs from all segments before one is searched:
// document frequencies add up over segments, so scores are comparable.
type plan struct {
	x     *Index
	opt   Options
	stop  *stopper
	norms [MaxFields]*norms
	terms map[string]*planTerm // by key
	pres  map[string]*planPrefix
	nodes int
	tmp   postings
}

type planTerm struct {
	df    int // live documents
	idf   float64
	parts []termInfo
}

type planPrefix struct {
	idf   float64
	parts []prefixList
}

// A prefixList holds the live documents of a prefix in one segment, and how
// often they have a term with it.
type prefixList struct {
	docs, tfs []uint32
	best      float64 // highest score with an idf of one
}

// A stopper ends long loops when the context is done.
type stopper struct {
	ctx context.Context
	n   uint
	err error
}

// ok is called at every step of a loop and looks at the context now and then.
func (s *stopper) ok() bool {
	if s.n++; s.n%1024 == 0 && s.err == nil {
		s.err = s.ctx.Err()
	}
	return s.err == nil
}

func (x *Index) plan(ctx context.Context, q query.Query, opt Options) (*plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &plan{x: x, opt: opt.withDefaults(), stop: &stopper{ctx: ctx},
		terms: map[string]*planTerm{}, pres: map[string]*planPrefix{}}
	if m := p.opt.BM25; !(m.K1 >= 0 && m.K1 < math.MaxFloat32 && m.B >= 0 && m.B <= 1) {
		return nil, fmt.Errorf("%w: parameters k1 %g, b %g", ErrQuery, m.K1, m.B)
	}
	if err := p.check(q, 0); err != nil {
		return nil, err
	}
	return p, p.stop.err
}

// failed returns the error that ended the iteration early, if any.
func (p *plan) failed(it cursor) error {
	if p.stop.err != nil {
		return p.stop.err
	}
	return it.fail()
}

// check walks the tree, so that errors and frequencies come before the search.
func (p *plan) check(q query.Query, depth int) error {
	if p.nodes++; p.nodes > p.opt.MaxNodes {
		return fmt.Errorf("%w: more than %d nodes", ErrQuery, p.opt.MaxNodes)
	}
	if depth > maxDepth {
		return fmt.Errorf("%w: nested more than %d deep", ErrQuery, maxDepth)
	}
	switch q := q.(type) {
	case query.Term:
		return p.checkTerms(q.Field, q.Weight, q.Text)
	case query.Phrase:
		if p.nodes += len(q.Words); p.nodes > p.opt.MaxNodes {
			return fmt.Errorf("%w: more than %d words", ErrQuery, p.opt.MaxNodes)
		}
		if len(p.x.parts) > 0 && p.inSchema(q.Field) && p.x.schema.Fields[q.Field].Kind == Parts {
			return fmt.Errorf("%w: field %d has no positions for a phrase", ErrQuery, q.Field)
		}
		return p.checkTerms(q.Field, q.Weight, q.Words...)
	case query.Prefix:
		return p.checkPrefix(q)
	case query.Keyword:
		if len(p.x.parts) > 0 && (!p.inSchema(q.Field) || p.x.schema.Fields[q.Field].Kind != Keyword) {
			return fmt.Errorf("%w: field %d is no keyword field", ErrQuery, q.Field)
		}
		return p.term(uint8(q.Field), q.Text)
	case query.PathWord:
		return p.term(pathField, string(q))
	case query.Attr:
		if len(p.x.parts) > 0 && (q.Attr < 0 || q.Attr >= len(p.x.schema.Attrs)) {
			return fmt.Errorf("%w: no attribute %d", ErrQuery, q.Attr)
		}
	case query.PathFunc:
		if q.Accept == nil {
			return fmt.Errorf("%w: path function %q is nil", ErrQuery, q.Name)
		}
	case query.Const:
		if !(q.Score >= 0 && q.Score <= math.MaxFloat32) {
			return fmt.Errorf("%w: score %g", ErrQuery, q.Score)
		}
		return p.check(q.Q, depth+1)
	case query.Not:
		if err := p.check(q.Q, depth+1); err != nil {
			return err
		}
		return p.check(q.Except, depth+1)
	case query.And:
		return p.checkAll(q, depth)
	case query.Or:
		return p.checkAll(q, depth)
	case nil:
		return fmt.Errorf("%w: nil node", ErrQuery)
	}
	return nil
}

func (p *plan) checkAll(qs []query.Query, depth int) error {
	for _, q := range qs {
		if err := p.check(q, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) inSchema(field int) bool { return field >= 0 && field < len(p.x.schema.Fields) }

// checkField prepares a field that is scored.
func (p *plan) checkField(field int, weight float64) error {
	if !(weight >= 0 && weight <= math.MaxFloat32) {
		return fmt.Errorf("%w: weight %g", ErrQuery, weight)
	}
	if len(p.x.parts) > 0 && !p.inSchema(field) {
		return fmt.Errorf("%w: no field %d", ErrQuery, field)
	}
	if len(p.x.parts) > 0 && p.x.schema.Fields[field].Kind == Keyword {
		return fmt.Errorf("%w: field %d is a keyword field", ErrQuery, field)
	}
	if len(p.x.parts) > 0 && p.norms[field] == nil {
		p.norms[field] = newNorms(p.opt.BM25, p.x.AvgLen(field))
	}
	return nil
}

func (p *plan) checkTerms(field int, weight float64, words ...string) error {
	if err := p.checkField(field, weight); err != nil {
		return err
	}
	for _, w := range words {
		if w == "" {
			continue
		}
		if err := p.term(uint8(field), w); err != nil {
			return err
		}
	}
	return nil
}

// term finds a term in every segment, once.
func (p *plan) term(field uint8, text string) error {
	key := string(termKey(field, text))
	if p.terms[key] != nil {
		return nil
	}
	t := &planTerm{parts: make([]termInfo, len(p.x.parts))}
	for i := range p.x.parts {
		part := &p.x.parts[i]
		info, err := part.seg.lookup(field, text)
		if err != nil {
			return err
		}
		t.parts[i] = info
		n, err := part.liveDF(info, &p.tmp)
		if err != nil {
			return err
		}
		t.df += n
	}
	t.idf = p.opt.BM25.IDF(p.x.docs, t.df)
	p.terms[key] = t
	return nil
}

// liveDF returns the number of live documents with a term. It decodes only the
// blocks that hold deleted documents. For words of paths it counts files, dead
// ones too, as these have no score.
func (p *part) liveDF(t termInfo, tmp *postings) (int, error) {
	n := int(t.df)
	if n == 0 || len(p.ranges) == 0 || t.field == pathField {
		return n, nil
	}
	if err := p.seg.postings(t, tmp); err != nil {
		return 0, err
	}
	d := uint32(0)
	for _, r := range p.ranges {
		for d = tmp.advance(max(r[0], d)); d < r[1]; d = tmp.advance(d + 1) {
			n--
		}
		if d == noDoc {
			break
		}
	}
	return n, tmp.err
}

func (p *plan) checkPrefix(q query.Prefix) error {
	if err := p.checkField(q.Field, q.Weight); err != nil {
		return err
	}
	key := string(termKey(uint8(q.Field), q.Text))
	if p.pres[key] != nil {
		return nil
	}
	t := &planPrefix{parts: make([]prefixList, len(p.x.parts))}
	df := 0
	for i := range p.x.parts {
		if err := p.expand(i, q, key, &t.parts[i]); err != nil {
			return err
		}
		df += len(t.parts[i].docs)
	}
	t.idf = p.opt.BM25.IDF(p.x.docs, df)
	p.pres[key] = t
	return nil
}

// expand lists the live documents of a prefix in segment i.
func (p *plan) expand(i int, q query.Prefix, key string, out *prefixList) error {
	part := &p.x.parts[i]
	s := part.seg
	var sum []uint32
	d := dictIter{s: s}
	terms := 0
	for ok := d.seek([]byte(key)); ok && strings.HasPrefix(string(d.key), key); ok = d.next() {
		if terms++; terms > p.opt.MaxTerms {
			return fmt.Errorf("%w: prefix %q stands for more than %d terms", ErrQuery, q.Text, p.opt.MaxTerms)
		}
		if err := s.postings(d.info, &p.tmp); err != nil {
			return err
		}
		if sum == nil {
			sum = make([]uint32, s.h.docs)
		}
		for doc := p.tmp.advance(0); doc != noDoc && p.stop.ok(); doc = p.tmp.advance(doc + 1) {
			sum[doc] += p.tmp.tf()
		}
		if p.tmp.err != nil || p.stop.err != nil {
			return firstErr(p.stop.err, p.tmp.err)
		}
	}
	norms, lens := p.norms[q.Field], s.lens[q.Field]
	for doc, n := range sum {
		if n > 0 && !part.isDeleted(uint32(doc)) {
			out.docs, out.tfs = append(out.docs, uint32(doc)), append(out.tfs, n)
			out.best = max(out.best, float64(n)*(norms.m.K1+1)/(float64(n)+norms.of(lens.of(uint32(doc)))))
		}
	}
	return d.err
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
