package local

import (
	"context"

	"codesage"
	"codesage/search"
)

var (
	_ search.Engine    = (*Index)(nil)
	_ search.TextIndex = (*Index)(nil)
)

// Begin implements search.Engine. When the base is missing or damaged it is
// rebuilt first.
func (x *Index) Begin(ctx context.Context, repo codesage.Repository, base codesage.RunID, run codesage.Run) (search.Writer, error) {
	d, err := x.begin(ctx, repo.ID, Entities, base, run)
	if err != nil {
		return nil, err
	}
	return &entityWriter{d}, nil
}

// entityWriter implements search.Writer.
type entityWriter struct{ d *draft }

func (w *entityWriter) Put(ctx context.Context, path string, _ int, records []search.Record) error {
	if err := checkPath(path); err != nil {
		return err
	}
	return w.d.put(ctx, entityFile(path, records))
}

func (w *entityWriter) Delete(_ context.Context, path string, _ int) error { return w.d.remove(path) }
func (w *entityWriter) Commit(ctx context.Context) error                   { return w.d.commit(ctx) }
func (w *entityWriter) Abort()                                             { w.d.abort() }

// Search implements search.Engine. Entities are ordered by relevance, see
// query.EntityClass: how the query names the entity; how many words match; how
// many without a typo; whether name and place have them; and the fields that
// they match in.
//
// Equally relevant ones come source before tests, then by rank weight, then by
// BM25 over all repositories of the scope, then by path, repository, line and
// the order in which the file has them.
//
// Pages counts those with hits on them, of which MaxHits can be reached. A query
// without a letter or digit has no hits.
func (x *Index) Search(ctx context.Context, q search.Query) (search.Result, error) {
	limit, page := min(max(q.Limit, 1), 50), max(q.Page, 0)
	result := search.Result{Page: page}
	v, err := x.view(ctx, q.Scope, Entities)
	if err != nil {
		return result, err
	}
	defer v.release()
	from := min(page, search.MaxHits) * limit
	best, err := v.rank(ctx, q, min(from+limit, search.MaxHits))
	if err != nil {
		return result, x.answer(ctx, err, v.opened...)
	}
	result.TotalHits = best.total
	result.Pages = (min(best.total, search.MaxHits) + limit - 1) / limit
	for _, h := range best.hits[min(from, len(best.hits)):] {
		r, err := v.record(h)
		if err != nil {
			return result, x.answer(ctx, err, v.opened...)
		}
		result.Hits = append(result.Hits, r)
	}
	return result, nil
}

// suggestDepth is how many hits are looked at for each suggestion.
const suggestDepth = 20

// Suggest implements search.Engine: the distinct names of the best hits of
// Search.
func (x *Index) Suggest(ctx context.Context, text string, scope []codesage.Snapshot, limit int) ([]string, error) {
	if limit <= 0 {
		return nil, nil
	}
	v, err := x.view(ctx, scope, Entities)
	if err != nil {
		return nil, err
	}
	defer v.release()
	best, err := v.rank(ctx, search.Query{Text: text}, min(limit, search.MaxHits/suggestDepth)*suggestDepth)
	if err != nil {
		return nil, x.answer(ctx, err, v.opened...)
	}
	var names []string
	seen := map[string]bool{}
	for _, h := range best.hits {
		r, err := v.record(h)
		if err != nil {
			return nil, x.answer(ctx, err, v.opened...)
		}
		if r.EntityName != "" && !seen[r.EntityName] {
			seen[r.EntityName] = true
			names = append(names, r.EntityName)
		}
		if len(names) == limit {
			break
		}
	}
	return names, nil
}

// maxLanguages bounds the list of labels.
const maxLanguages = 10_000

// Languages implements search.Engine.
func (x *Index) Languages(ctx context.Context, scope []codesage.Snapshot) ([]string, error) {
	v, err := x.view(ctx, scope, Entities)
	if err != nil {
		return nil, err
	}
	defer v.release()
	terms, err := v.ix.Terms(ctx, fLanguage, "", maxLanguages)
	if err != nil {
		return nil, x.answer(ctx, err, v.opened...)
	}
	var labels []string
	for _, t := range terms {
		labels = append(labels, t.Text)
	}
	return labels, nil
}
