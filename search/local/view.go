package local

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
)

// A view is the index of a scope for one request.
type view struct {
	scope  []codesage.Snapshot // by repository; hits name their place in it
	opened []*opened
	ix     *index.Index
	joined bool
}

// view opens a scope, which the caller releases.
func (x *Index) view(ctx context.Context, scope []codesage.Snapshot, part Part) (*view, error) {
	v := &view{scope: slices.Clone(scope)}
	slices.SortFunc(v.scope, func(a, b codesage.Snapshot) int {
		return cmp.Or(cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Run, b.Run))
	})
	v.scope = slices.Compact(v.scope)
	indexes := make([]*index.Index, 0, len(v.scope))
	for _, s := range v.scope {
		o, err := x.acquire(ctx, s, part, x.o.RebuildWait)
		if err != nil {
			v.release()
			return nil, err
		}
		v.opened = append(v.opened, o)
		indexes = append(indexes, o.ix)
	}
	if len(indexes) == 1 {
		v.ix = indexes[0]
		return v, nil
	}
	ix, err := index.Join(indexes...)
	if err != nil {
		v.release()
		return nil, x.answer(ctx, err, v.opened...)
	}
	v.ix, v.joined = ix, true
	return v, nil
}

func (v *view) release() {
	if v.joined {
		v.ix.Close()
	}
	for _, o := range v.opened {
		o.release()
	}
}

// A rankedHit is an entity with what orders it.
type rankedHit struct {
	class    int
	isTest   uint32
	rank     uint32
	fraction uint32 // of the score, rounded: the order of additions must not show
	ref      index.Ref
	line     uint32
	source   int
	path     string
}

// compare is negative when a comes before b.
func (a *rankedHit) compare(b *rankedHit) int {
	return cmp.Or(
		cmp.Compare(b.class, a.class),
		cmp.Compare(a.isTest, b.isTest),
		cmp.Compare(b.rank, a.rank),
		cmp.Compare(b.fraction, a.fraction),
		strings.Compare(a.path, b.path),
		cmp.Compare(a.source, b.source),
		cmp.Compare(a.line, b.line),
		cmp.Compare(a.ref.Part, b.ref.Part),
		cmp.Compare(a.ref.Doc, b.ref.Doc))
}

// fractionBits is the precision of a BM25 score that orders hits. A score is
// below one and its sum exact to more bits than these.
const fractionBits = 28

// A ranking is the beginning of an ordered list of hits, and how long the list
// is.
type ranking struct {
	hits  []rankedHit
	total int
}

// rank returns the best k hits of the first level of leniency that has any.
func (v *view) rank(ctx context.Context, q search.Query, k int) (ranking, error) {
	plain := query.ParsePlain(clean(q.Text), entityFields.Search)
	words := plain.Words
	if len(words) == 0 || len(v.scope) == 0 {
		return ranking{}, nil
	}
	for level := query.AllWords; level <= query.SomeWords; level++ {
		if level == query.SomeWords && len(words) == 1 {
			break
		}
		if level == query.OneTypo {
			if err := v.misspelled(ctx, words); err != nil {
				return ranking{}, err
			}
		}
		tree := filter(query.Entities(plain, level, entityFields), q)
		r, err := v.collect(ctx, tree, k)
		if err != nil || r.total > 0 {
			return r, err
		}
	}
	return ranking{}, nil
}

// clean makes any bytes a query text.
func clean(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), search.MaxQueryBytes)], " ")
}

// filter restricts a tree to what a query asks for.
func filter(tree query.Query, q search.Query) query.Query {
	and := query.And{tree}
	if q.Language != "" {
		and = append(and, query.Keyword{Field: fLanguage, Text: q.Language})
	}
	if q.EntityType != "" {
		return append(and, query.Keyword{Field: fType, Text: string(q.EntityType)})
	}
	return query.Not{Q: and, Except: query.Keyword{Field: fType, Text: string(codesage.EntityImport)}}
}

// maxTypos is how many terms a word may stand for that are close to it.
const maxTypos = 8

// misspelled sets what the long words may be misspellings of: the most frequent
// terms of names, then of signatures, then of bodies.
func (v *view) misspelled(ctx context.Context, words []query.Word) error {
	for i := range words {
		w := &words[i]
		if !w.CanBeMisspelled() {
			continue
		}
		for _, field := range []int{fName, fNameParts, fNameJoins, fText, fTextParts, fContent, fContentParts} {
			terms, err := v.ix.Near(ctx, field, w.Text, maxTypos)
			if err != nil {
				return err
			}
			for _, t := range terms {
				if len(w.Typos) < maxTypos && !slices.Contains(w.Typos, t.Text) && !slices.Contains(w.Forms, t.Text) {
					w.Typos = append(w.Typos, t.Text)
				}
			}
		}
	}
	return nil
}

// maxTree bounds the tree of a plain query: 16 words with all they stand for.
const maxTree = 1 << 14

// collect returns the best k matches of a tree, and counts all.
func (v *view) collect(ctx context.Context, tree query.Query, k int) (ranking, error) {
	var r ranking
	var worst *rankedHit // when set, a later hit is none of the best
	opt := index.Options{MaxNodes: maxTree, MaxTerms: 1 << 20}
	cut := func() {
		slices.SortFunc(r.hits, func(a, b rankedHit) int { return a.compare(&b) })
		if len(r.hits) >= k {
			r.hits = r.hits[:k]
			last := r.hits[max(0, k-1)]
			worst = &last
		}
	}
	err := v.ix.Each(ctx, tree, opt, func(m *index.Match) error {
		r.total++
		class, fraction := query.EntityClass(m.Score())
		h := rankedHit{class: class, isTest: m.Attr(aTest), rank: m.Attr(aRank),
			fraction: uint32(fraction * (1 << fractionBits)), ref: m.Ref(), source: m.Source()}
		if k <= 0 || worst != nil && h.surelyAfter(worst) {
			return nil
		}
		h.path = m.Path()
		h.line, _ = m.Range()
		if worst != nil && h.compare(worst) > 0 {
			return nil
		}
		if r.hits = append(r.hits, h); len(r.hits) >= 2*k+64 {
			cut()
		}
		return nil
	})
	cut()
	return r, err
}

// surelyAfter reports that a comes after b whatever its path is.
func (a *rankedHit) surelyAfter(b *rankedHit) bool {
	return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(a.isTest, b.isTest),
		cmp.Compare(b.rank, a.rank), cmp.Compare(b.fraction, a.fraction)) > 0
}

// record loads the record of a hit.
func (v *view) record(h rankedHit) (search.Record, error) {
	doc, err := v.ix.Load(h.ref, 0)
	if err != nil {
		return search.Record{}, err
	}
	r, err := decodeRecord(doc.Payload)
	if err != nil {
		return r, err
	}
	r.RepositoryID = v.scope[h.source].Repository
	r.FilePath = h.path
	return r, nil
}
