package algolia

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/algolia/algoliasearch-client-go/v3/algolia/call"

	"codesage"
	"codesage/search"
)

// attributes are those of a record that a search returns; objectID always comes.
var attributes = []string{
	"repository_id", "repository_name", "run", "entity_type", "entity_name", "file_path", "language",
	"line_start", "line_end", "signature", "content", "description", "is_test", "rank_weight",
}

// question is the body of a search, and of the first page of a browse. The
// client's own type can't say that nothing is to be highlighted.
type question struct {
	Query                  string   `json:"query"`
	Filters                string   `json:"filters"`
	Page                   int      `json:"page"`
	HitsPerPage            int      `json:"hitsPerPage"`
	AttributesToRetrieve   []string `json:"attributesToRetrieve"`
	AttributesToHighlight  []string `json:"attributesToHighlight"`
	AttributesToSnippet    []string `json:"attributesToSnippet"`
	Facets                 []string `json:"facets,omitempty"`
	MaxValuesPerFacet      int      `json:"maxValuesPerFacet,omitempty"`
	RemoveWordsIfNoResults string   `json:"removeWordsIfNoResults"`
	IgnorePlurals          bool     `json:"ignorePlurals"`
	RemoveStopWords        bool     `json:"removeStopWords"`
	QueryLanguages         []string `json:"queryLanguages"`
	Analytics              bool     `json:"analytics"` // what people look for is not kept
}

// reply is what is read of an answer. Hits always come, and but for a browse
// NbHits.
type reply struct {
	NbHits int                       `json:"nbHits"`
	Hits   []json.RawMessage         `json:"hits"`
	Facets map[string]map[string]int `json:"facets"`
	Cursor string                    `json:"cursor"`
}

func newQuestion(text, filters string) question {
	return question{
		Query: text, Filters: filters, HitsPerPage: 1,
		AttributesToRetrieve: []string{"objectID"}, AttributesToHighlight: []string{}, AttributesToSnippet: []string{},
		RemoveWordsIfNoResults: "allOptional", IgnorePlurals: true, RemoveStopWords: true, QueryLanguages: []string{"en"},
	}
}

// post asks a route of the index that reads. An index that does not exist yet
// has no records.
func (e *Engine) post(ctx context.Context, route string, tries int, body any) (r reply, err error) {
	err = e.call(ctx, route, tries, func(ctx context.Context) error {
		r = reply{NbHits: -1}
		if err := e.client.CustomRequest(&r, http.MethodPost, "/1/indexes/"+e.c.IndexName+"/"+route, body, call.Read, ctx); err != nil {
			return err
		}
		if r.Hits == nil || route == "query" && r.NbHits < 0 {
			return errors.New("the answer has no hits or no nbHits")
		}
		return nil
	})
	if hasStatus(err, http.StatusNotFound) {
		return reply{}, nil
	}
	return r, err
}

// ask searches for a reader, who does not wait for ever.
func (e *Engine) ask(ctx context.Context, q question) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	return e.post(ctx, "query", triesOfSearch, q)
}

// Search implements search.Engine. Hits are in Algolia's order: typos, words,
// proximity, attribute, exactness, source before tests, rank weight.
func (e *Engine) Search(ctx context.Context, q search.Query) (search.Result, error) {
	limit, page := min(max(q.Limit, 1), 50), max(q.Page, 0)
	result := search.Result{Page: page}
	in := newScope(q.Scope)
	text := queryText(q.Text)
	filters, ok := filtersOf(q, in)
	if text == "" || !ok {
		return result, ctx.Err()
	}
	body := newQuestion(text, filters)
	from := min(page, search.MaxHits) * limit
	if from < search.MaxHits {
		body.Page, body.HitsPerPage, body.AttributesToRetrieve = page, limit, attributes
	}
	r, err := e.ask(ctx, body)
	if err != nil {
		return result, unavailable(err)
	}
	result.TotalHits = r.NbHits
	result.Pages = (min(r.NbHits, search.MaxHits) + limit - 1) / limit
	if from < search.MaxHits {
		result.Hits, err = records(r.Hits[:min(len(r.Hits), search.MaxHits-from)], in)
	}
	if err != nil {
		return result, unavailable(err)
	}
	return result, nil
}

// queryText is what is asked for: at most what Algolia takes, cut at a
// character, and nothing when there is no letter or digit, because Algolia
// answers such a query with every record.
func queryText(text string) string {
	text = strings.ToValidUTF8(text, " ")
	if len(text) > search.MaxQueryBytes {
		text = strings.ToValidUTF8(text[:search.MaxQueryBytes], "")
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return ""
	}
	return text
}

// filtersOf returns the filters of a query; not ok when nothing can pass them.
// Algolia compares facet values without regard to case, and labels are in lower
// case, so a label that is not can't be meant.
func filtersOf(q search.Query, in scope) (filters string, ok bool) {
	if in.filter == "" || q.Language != strings.ToLower(q.Language) {
		return "", false
	}
	filters = in.filter
	if q.Language != "" {
		filters += " AND language:" + quoted(strings.ToValidUTF8(q.Language, "\uFFFD"))
	}
	switch {
	case q.EntityType == "":
		return filters + ` AND NOT entity_type:` + quoted(string(codesage.EntityImport)), true
	case !slices.Contains(codesage.EntityTypes, q.EntityType):
		return "", false
	}
	return filters + " AND entity_type:" + quoted(string(q.EntityType)), true
}

var errNoObjectID = &failure{text: "a hit has no objectID"}

// records decodes hits, and drops those that only a bounded filter let through.
func records(hits []json.RawMessage, in scope) ([]search.Record, error) {
	var list []search.Record
	for _, data := range hits {
		var r search.Record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, &failure{text: "decode hit: " + err.Error()}
		}
		if r.ObjectID == "" {
			return nil, errNoObjectID
		}
		if in.isExact || in.members[r.RepositoryID] {
			list = append(list, r)
		}
	}
	return list, nil
}

// Suggest implements search.Engine: the distinct names of the first hits, of
// which twice as many as wanted are looked at.
func (e *Engine) Suggest(ctx context.Context, text string, snapshots []codesage.Snapshot, limit int) ([]string, error) {
	in := newScope(snapshots)
	text = queryText(text)
	filters, ok := filtersOf(search.Query{}, in)
	if text == "" || !ok || limit <= 0 {
		return nil, ctx.Err()
	}
	body := newQuestion(text, filters)
	body.HitsPerPage, body.AttributesToRetrieve = min(2*limit, search.MaxHits), []string{"entity_name", "repository_id"}
	r, err := e.ask(ctx, body)
	if err != nil {
		return nil, unavailable(err)
	}
	hits, err := records(r.Hits, in)
	if err != nil {
		return nil, unavailable(err)
	}
	var names []string
	for _, h := range hits {
		if h.EntityName != "" && !slices.Contains(names, h.EntityName) && len(names) < limit {
			names = append(names, h.EntityName)
		}
	}
	return names, nil
}

// Languages implements search.Engine. Algolia lists at most a thousand labels.
func (e *Engine) Languages(ctx context.Context, snapshots []codesage.Snapshot) ([]string, error) {
	in := newScope(snapshots)
	if in.filter == "" {
		return nil, ctx.Err()
	}
	body := newQuestion("", in.filter)
	body.Facets, body.MaxValuesPerFacet = []string{"language"}, maxFacetValues
	r, err := e.ask(ctx, body)
	if err != nil {
		return nil, unavailable(err)
	}
	var labels []string
	for label := range r.Facets["language"] {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	return labels, nil
}

// Ping implements search.Engine: the index has its settings and answers.
func (e *Engine) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	if err := e.settle(ctx, triesOfSearch); err != nil {
		return unavailable(err)
	}
	if _, err := e.post(ctx, "query", triesOfSearch, newQuestion("", "")); err != nil {
		return unavailable(err)
	}
	return nil
}
