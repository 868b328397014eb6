package index

import (
	"fmt"

	"codesage/search/query"
)

// compile makes the cursor of q for segment i of the index.
func (p *plan) compile(i int, q query.Query) (cursor, error) {
	s := p.x.parts[i].seg
	switch q := q.(type) {
	case query.Term:
		return p.termIter(i, q)
	case query.Phrase:
		return p.phrase(i, q)
	case query.Prefix:
		t := p.pres[string(termKey(uint8(q.Field), q.Text))]
		return &listIter{prefixList: t.parts[i], scorer: p.scorer(i, q.Field, t.idf, q.Weight)}, nil
	case query.Keyword:
		info := p.terms[string(termKey(uint8(q.Field), q.Text))].parts[i]
		if info.df == 0 {
			return none{}, nil
		}
		k := &keywordIter{}
		return k, s.postings(info, &k.postings)
	case query.PathWord:
		info := p.terms[string(termKey(pathField, string(q)))].parts[i]
		if info.df == 0 {
			return none{}, nil
		}
		f := &fileIter{seg: s}
		return f, s.postings(info, &f.files)
	case query.PathMatch:
		return &pathIter{seg: s, accept: containsFold(string(q)), stop: p.stop}, nil
	case query.PathFunc:
		return &pathIter{seg: s, accept: func(b []byte) bool { return q.Accept(string(b)) }, stop: p.stop}, nil
	case query.Attr:
		return &attrIter{seg: s, attr: q.Attr, min: q.Min, max: q.Max, stop: p.stop}, nil
	case query.All:
		return &allIter{docs: s.h.docs}, nil
	case query.Const:
		it, err := p.compile(i, q.Q)
		return &constIter{it, float64(float32(q.Score))}, err
	case query.Not:
		its, err := p.compileAll(i, []query.Query{q.Q, q.Except})
		if err != nil {
			return nil, err
		}
		return &notIter{q: its[0], except: its[1], stop: p.stop}, nil
	case query.And:
		its, err := p.compileAll(i, q)
		if len(its) < 2 || err != nil {
			return single(its), err
		}
		return newAnd(its, p.stop), nil
	case query.Or:
		its, err := p.compileAll(i, q)
		if len(its) < 2 || err != nil {
			return single(its), err
		}
		return newOr(its), nil
	}
	return nil, fmt.Errorf("%w: node %T", ErrQuery, q)
}

func single(its []cursor) cursor {
	if len(its) == 0 {
		return none{}
	}
	return its[0]
}

func (p *plan) compileAll(i int, qs []query.Query) ([]cursor, error) {
	its := make([]cursor, 0, len(qs))
	for _, q := range qs {
		it, err := p.compile(i, q)
		if err != nil {
			return nil, err
		}
		its = append(its, it)
	}
	return its, nil
}

func (p *plan) termIter(i int, q query.Term) (cursor, error) {
	t := p.terms[string(termKey(uint8(q.Field), q.Text))]
	if t == nil || t.parts[i].df == 0 {
		return none{}, nil
	}
	it := &termIter{scorer: p.scorer(i, q.Field, t.idf, q.Weight), seen: -1}
	return it, p.x.parts[i].seg.postings(t.parts[i], &it.postings)
}

func (p *plan) scorer(i, field int, idf, weight float64) scorer {
	if weight != 0 {
		idf *= weight
	}
	return scorer{idf: idf, norms: p.norms[field], lens: p.x.parts[i].seg.lens[field]}
}

// disjunction splits q into terms of which one must match and a filter that
// does not score, nil for none. It reports false when q is not of that form.
func disjunction(q query.Query) (terms []query.Term, filter query.Query, ok bool) {
	switch q := q.(type) {
	case query.Term:
		return []query.Term{q}, nil, true
	case query.Or:
		for _, c := range q {
			t, f, ok := disjunction(c)
			if !ok || f != nil {
				return nil, nil, false
			}
			terms = append(terms, t...)
		}
		return terms, nil, true
	case query.Not:
		if terms, filter, ok = disjunction(q.Q); ok {
			if filter == nil {
				filter = query.All{}
			}
			return terms, query.Not{Q: filter, Except: q.Except}, true
		}
	case query.And:
		var filters query.And
		found := false
		for _, c := range q {
			if isFilter(c) {
				filters = append(filters, c)
				continue
			}
			t, f, ok := disjunction(c)
			if !ok || found {
				return nil, nil, false
			}
			found, terms = true, t
			if f != nil {
				filters = append(filters, f)
			}
		}
		switch {
		case !found:
			return nil, nil, false
		case len(filters) == 0:
			return terms, nil, true
		}
		return terms, filters, true
	}
	return nil, nil, false
}

// isFilter reports whether q scores nothing.
func isFilter(q query.Query) bool {
	switch q := q.(type) {
	case query.All, query.Keyword, query.Attr, query.PathWord, query.PathMatch, query.PathFunc:
		return true
	case query.Const:
		return q.Score == 0
	case query.Not:
		return isFilter(q.Q)
	case query.And:
		return all(q, isFilter)
	case query.Or:
		return all(q, isFilter)
	}
	return false
}

func all(qs []query.Query, ok func(query.Query) bool) bool {
	for _, q := range qs {
		if !ok(q) {
			return false
		}
	}
	return true
}
