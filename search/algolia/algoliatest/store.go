package algoliatest

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A record is a decoded object.
type record = map[string]any

// store is an index.
type store struct {
	exists   bool
	settings settings
	records  map[string]*object
	lastSeq  int
	tasks    []task
}

type task struct {
	id    int64
	polls int // until it is published
	apply func()
}

// object is a record with what matching needs of it.
type object struct {
	id     string
	seq    int
	record record
	fields []field // of the settings' searchable attributes
}

func newStore() *store {
	return &store{records: map[string]*object{}, settings: newSettings(nil)}
}

// write applies a batch in its order.
func (x *store) write(ids []string, changes []record) {
	x.exists = true
	for i, id := range ids {
		if changes[i] == nil {
			delete(x.records, id)
			continue
		}
		o := &object{id: id, record: changes[i], fields: x.settings.fieldsOf(changes[i])}
		if before := x.records[id]; before != nil {
			o.seq = before.seq
		} else {
			x.lastSeq++
			o.seq = x.lastSeq
		}
		x.records[id] = o
	}
}

// setSettings changes what is given and leaves the rest.
func (x *store) setSettings(values map[string]any) {
	x.exists = true
	merged := map[string]any{}
	for k, v := range x.settings.values {
		merged[k] = v
	}
	for k, v := range values {
		merged[k] = v
	}
	x.settings = newSettings(merged)
	for _, o := range x.records {
		o.fields = x.settings.fieldsOf(o.record)
	}
}

// filtered returns the records that pass the filters of a body.
func (x *store) filtered(body map[string]any) ([]*object, error) {
	text, _ := body["filters"].(string)
	f, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	for _, group := range f {
		for _, t := range group {
			if err := x.settings.allows(t); err != nil {
				return nil, err
			}
		}
	}
	var list []*object
	for _, o := range x.records {
		if f.matches(o.record) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object) int { return a.seq - b.seq })
	return list, nil
}

func (x *store) query(body map[string]any) answer {
	text, _ := body["query"].(string)
	if len(text) > MaxQueryBytes {
		return refuse(http.StatusBadRequest, fmt.Sprintf("query is too long, it must be less than %d bytes", MaxQueryBytes))
	}
	list, err := x.filtered(body)
	if err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	facets, err := x.settings.facets(body)
	if err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	list = x.rank(list, text, x.settings.with(body))
	perPage, page := intOf(body, "hitsPerPage", 20), intOf(body, "page", 0)
	reach := min(len(list), intOf(x.settings.values, "paginationLimitedTo", 1000))
	from, to := min(page*perPage, reach), min((page+1)*perPage, reach)
	hits := []record{}
	for _, o := range list[from:to] {
		hits = append(hits, retrieve(o, body))
	}
	answerBody := map[string]any{
		"hits": hits, "nbHits": len(list), "page": page, "hitsPerPage": perPage, "nbPages": (reach + perPage - 1) / perPage,
		"exhaustiveNbHits": true, "processingTimeMS": 1, "query": text, "params": "",
	}
	if len(facets) > 0 {
		answerBody["facets"] = countFacets(list, facets, intOf(body, "maxValuesPerFacet", 100))
	}
	return answer{status: http.StatusOK, body: answerBody}
}

// browse pages through all matches; its cursor holds the question and the
// number of the last record.
func (x *store) browse(body map[string]any, pageSize int) answer {
	after := 0
	if cursor, ok := body["cursor"].(string); ok {
		if len(body) > 1 {
			return refuse(http.StatusBadRequest, "a cursor stands alone")
		}
		at, filters, ok := strings.Cut(cursor, "|")
		n, err := strconv.Atoi(at)
		if !ok || err != nil {
			return refuse(http.StatusBadRequest, "Invalid cursor")
		}
		after = n
		body = map[string]any{"filters": filters}
	}
	list, err := x.filtered(body)
	if err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	list = list[sort.Search(len(list), func(i int) bool { return list[i].seq > after }):]
	size := intOf(body, "hitsPerPage", 1000)
	if pageSize > 0 {
		size = min(size, pageSize)
	}
	hits := []record{}
	for _, o := range list[:min(size, len(list))] {
		hits = append(hits, retrieve(o, body))
	}
	answerBody := map[string]any{"hits": hits, "nbHits": len(list), "page": 0, "hitsPerPage": size, "nbPages": 1, "processingTimeMS": 1, "query": "", "params": ""}
	if len(list) > size {
		text, _ := body["filters"].(string)
		answerBody["cursor"] = fmt.Sprintf("%d|%s", list[size-1].seq, text)
	}
	return answer{status: http.StatusOK, body: answerBody}
}

// retrieve returns the attributes of a record that are asked for.
func retrieve(o *object, body map[string]any) record {
	names, ok := body["attributesToRetrieve"].([]any)
	hit := record{}
	for k, v := range o.record {
		if !ok || slices.Contains(names, any(k)) || slices.Contains(names, any("*")) {
			hit[k] = v
		}
	}
	hit["objectID"] = o.id
	return hit
}

func countFacets(list []*object, names []string, most int) map[string]map[string]int {
	facets := map[string]map[string]int{}
	for _, name := range names {
		counts := map[string]int{}
		for _, o := range list {
			if v, ok := o.record[name]; ok && (counts[facetValue(v)] > 0 || len(counts) < most) {
				counts[facetValue(v)]++
			}
		}
		facets[name] = counts
	}
	return facets
}

func intOf(body map[string]any, name string, otherwise int) int {
	if n, ok := body[name].(float64); ok {
		return int(n)
	}
	return otherwise
}
