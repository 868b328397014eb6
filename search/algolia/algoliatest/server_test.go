package algoliatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// ask sends a request as the client does; change may spoil it.
func ask(t *testing.T, s *Server, method, path, body string, change func(r *http.Request)) (int, map[string]any) {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+s.Host()+path, in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Algolia-Application-Id", AppID)
	r.Header.Set("X-Algolia-Api-Key", AdminKey)
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if change != nil {
		change(r)
	}
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatalf("%s %s: decode answer: %v", method, path, err)
	}
	return res.StatusCode, out
}

// indexed returns a server whose index "i" has settings and one record.
func indexed(t *testing.T) *Server {
	t.Helper()
	s := New(t, Options{TaskPolls: 1})
	s.SetSettings("i", map[string]any{
		"searchableAttributes": []any{"name"}, "attributesForFaceting": []any{"filterOnly(repo)", "lang"},
		"numericAttributesForFiltering": []any{"run"},
	})
	_, out := ask(t, s, "POST", "/1/indexes/i/batch", `{"requests":[{"action":"addObject","body":{"objectID":"1","name":"load","repo":7,"lang":"go","run":5,"size":3}}]}`, nil)
	ask(t, s, "GET", fmt.Sprintf("/1/indexes/i/task/%.0f", out["taskID"]), "", nil)
	return s
}

func TestStrictAboutRequests(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", MaxRecordBytes)
	many := strings.TrimSuffix(strings.Repeat(`{"action":"deleteObject","body":{"objectID":"1"}},`, MaxBatch+1), ",")
	header := func(name, value string) func(r *http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	s := indexed(t)
	for _, test := range []struct {
		name, method, path, body string
		change                   func(r *http.Request)
		status                   int
		message                  string
	}{
		{"good query", "POST", "/1/indexes/i/query", `{"query":"load","filters":"repo:7"}`, nil, 200, ""},
		{"wrong key", "POST", "/1/indexes/i/query", `{}`, header("X-Algolia-Api-Key", "x"), 403, "Invalid Application-ID"},
		{"wrong application", "POST", "/1/indexes/i/query", `{}`, header("X-Algolia-Application-Id", "x"), 403, "Invalid Application-ID"},
		{"content type", "POST", "/1/indexes/i/query", `{}`, header("Content-Type", "text/plain"), 400, "not JSON"},
		{"not JSON", "POST", "/1/indexes/i/query", `{`, nil, 400, "body is not JSON"},
		{"route", "POST", "/1/indexes/i/qery", `{}`, nil, 404, "Path not found"},
		{"old route", "GET", "/1/indexes/i?query=load", "", nil, 404, "Path not found"},
		{"method", "GET", "/1/indexes/i/query", "", nil, 404, "Path not found"},
		{"no index", "POST", "/1/indexes/none/query", `{}`, nil, 404, "Index none does not exist"},
		{"no settings", "GET", "/1/indexes/none/settings", "", nil, 404, "does not exist"},
		{"url parameter", "POST", "/1/indexes/i/query?x=1", `{}`, nil, 400, "Unknown parameter: x"},
		{"version of settings", "GET", "/1/indexes/i/settings?getVersion=2", "", nil, 200, ""},
		{"unknown field", "POST", "/1/indexes/i/query", `{"qeury":"x"}`, nil, 400, "Unknown parameter: qeury"},
		{"type of a field", "POST", "/1/indexes/i/query", `{"hitsPerPage":"9"}`, nil, 400, "not a number"},
		{"range of a field", "POST", "/1/indexes/i/query", `{"hitsPerPage":1001}`, nil, 400, "out of range"},
		{"fraction", "POST", "/1/indexes/i/query", `{"page":1.5}`, nil, 400, "not an integer"},
		{"value of a field", "POST", "/1/indexes/i/query", `{"removeWordsIfNoResults":"some"}`, nil, 400, "none of"},
		{"language of a list", "POST", "/1/indexes/i/query", `{"queryLanguages":["xx"]}`, nil, 400, "none of"},
		{"cursor in a query", "POST", "/1/indexes/i/query", `{"cursor":"1|"}`, nil, 400, "Unknown parameter: cursor"},
		{"parameters as text", "POST", "/1/indexes/i/query", `{"params":"query=x"}`, nil, 400, "as an object only"},
		{"long query", "POST", "/1/indexes/i/query", `{"query":"` + strings.Repeat("x", 513) + `"}`, nil, 400, "too long"},
		{"facet that filters only", "POST", "/1/indexes/i/query", `{"facets":["repo"]}`, nil, 400, "not an attribute that is counted"},
		{"filter by no facet", "POST", "/1/indexes/i/query", `{"filters":"name:load"}`, nil, 400, "not in attributesForFaceting"},
		{"filter by no number", "POST", "/1/indexes/i/query", `{"filters":"size > 1"}`, nil, 400, "not in numericAttributesForFiltering"},
		{"cursor", "POST", "/1/indexes/i/browse", `{"cursor":"x"}`, nil, 400, "Invalid cursor"},
		{"cursor and more", "POST", "/1/indexes/i/browse", `{"cursor":"1|","filters":"repo:7"}`, nil, 400, "stands alone"},
		{"no operations", "POST", "/1/indexes/i/batch", `{"requests":[]}`, nil, 400, "a batch of 0"},
		{"requests are missing", "POST", "/1/indexes/i/batch", `{}`, nil, 400, "requests is missing"},
		{"null", "POST", "/1/indexes/i/batch", `null`, nil, 400, "requests is missing"},
		{"no body of an operation", "POST", "/1/indexes/i/batch", `{"requests":[{"action":"addObject"}]}`, nil, 400, "body is missing"},
		{"unknown action", "POST", "/1/indexes/i/batch", `{"requests":[{"action":"put","body":{"objectID":"1"}}]}`, nil, 400, "none of"},
		{"more in an operation", "POST", "/1/indexes/i/batch", `{"requests":[{"action":"addObject","body":{"objectID":"1"},"indexName":"i"}]}`, nil, 400, "Unknown parameter: indexName"},
		{"no id", "POST", "/1/indexes/i/batch", `{"requests":[{"action":"addObject","body":{"name":"x"}}]}`, nil, 400, "objectID is missing at the position 0"},
		{"deletion with more", "POST", "/1/indexes/i/batch", `{"requests":[{"action":"deleteObject","body":{"objectID":"1","name":"x"}}]}`, nil, 400, "more than an objectID"},
		{"large record", "POST", "/1/indexes/i/batch", `{"requests":[{"action":"addObject","body":{"objectID":"9","name":"` + big + `"}}]}`, nil, 400, "objectID=9 is too big"},
		{"large batch", "POST", "/1/indexes/i/batch", `{"requests":[` + many + `]}`, nil, 400, "a batch of 1001"},
		{"large body", "POST", "/1/indexes/i/batch", strings.Repeat(" ", MaxBatchBytes+1), nil, 413, "too large"},
		{"unknown setting", "PUT", "/1/indexes/i/settings", `{"attributesToIndex":["x"]}`, nil, 400, "Unknown parameter: attributesToIndex"},
		{"modifier", "PUT", "/1/indexes/i/settings", `{"customRanking":["up(x)"]}`, nil, 400, "is not valid"},
		{"split of no attribute", "PUT", "/1/indexes/i/settings", `{"searchableAttributes":["a"],"camelCaseAttributes":["b"]}`, nil, 400, "is not searchable"},
		{"user data", "PUT", "/1/indexes/i/settings", `{"userData":{"x":"` + strings.Repeat("x", maxUserData) + `"}}`, nil, 400, "too large"},
		{"unknown task", "GET", "/1/indexes/i/task/999", "", nil, 400, "Unknown task"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out := ask(t, s, test.method, test.path, test.body, test.change)
			message, _ := out["message"].(string)
			if status != test.status || !strings.Contains(message, test.message) || status != 200 && out["status"] != float64(status) {
				t.Errorf("got %d %q, want %d %q", status, message, test.status, test.message)
			}
		})
	}
	if s.Records("i") != 1 {
		t.Error("a refused request changed the index")
	}
}

func TestFilterGrammar(t *testing.T) {
	t.Parallel()
	r := record{"lang": "Go", "kind": `a"b\c`, "n": 5.}
	for text, want := range map[string]bool{
		``:                            true,
		`lang:go`:                     true,
		`lang:"GO"`:                   true,
		`'lang':'go'`:                 true,
		`NOT lang:go`:                 false,
		`lang:go AND n:5`:             true,
		`n = 5`:                       true,
		`n != 5`:                      false,
		`n>4 AND n<6`:                 true,
		`n>=6`:                        false,
		`n <= 5`:                      true,
		`n:1 TO 5`:                    true,
		`n:6 TO 9`:                    false,
		`n:6 TO 9 OR n = 5`:           true,
		`(lang:c OR lang:go)`:         true,
		`(lang:c OR lang:d) AND n=5`:  false,
		`lang:c OR lang:go AND n = 4`: false,
		`kind:"a\"b\\c"`:              true,
		`lang:"c OR lang:go"`:         false,
		`none:x`:                      false,
		`NOT none:x`:                  true,
	} {
		f, err := parseFilter(text)
		if err != nil || f.matches(r) != want {
			t.Errorf("%s: got %v, %v, want %v", text, err == nil && f.matches(r), err, want)
		}
	}
	for _, text := range []string{
		`lang`, `lang:`, `:go`, `lang:go lang:go`, `lang:go AND`, `AND lang:go`, `lang:go OR`, `(lang:go`, `lang:go)`, `NOT (lang:go OR lang:c)`,
		`(lang:go AND n=5)`, `lang:go OR (n = 5 AND lang:c)`, `lang:go OR n = 5`, `n = x`, `n:1 TO x`, `n:1 TO`, `n >`, `n = "5"`, `lang:"go`,
		`NOT NOT lang:go`, `OR:x`, `lang:AND`, `n > 9223372036854775807`, `((lang:go))`,
	} {
		if f, err := parseFilter(text); err == nil {
			t.Errorf("%s: got %v, want an error", text, f)
		}
	}
}

func TestWritesTakeEffectWhenTheirTaskIsPublished(t *testing.T) {
	t.Parallel()
	s := New(t, Options{TaskPolls: 3})
	var tasks []string
	for i := range 2 {
		status, out := ask(t, s, "POST", "/1/indexes/i/batch", fmt.Sprintf(`{"requests":[{"action":"addObject","body":{"objectID":"%d"}}]}`, i), nil)
		if status != 200 {
			t.Fatalf("batch: %d %v", status, out)
		}
		tasks = append(tasks, fmt.Sprintf("/1/indexes/i/task/%.0f", out["taskID"]))
	}
	// The later one is done last, however often it is asked for.
	for poll, want := range []struct {
		status  string
		records int
	}{{"notPublished", 0}, {"notPublished", 0}, {"notPublished", 1}, {"notPublished", 1}, {"notPublished", 1}, {"published", 2}, {"published", 2}} {
		_, out := ask(t, s, "GET", tasks[1], "", nil)
		if got := s.Records("i"); out["status"] != want.status || got != want.records {
			t.Errorf("poll %d: got %v and %d records, want %v and %d", poll, out["status"], got, want.status, want.records)
		}
	}
	if _, out := ask(t, s, "GET", tasks[0], "", nil); out["status"] != "published" {
		t.Errorf("the first task is %v", out["status"])
	}
}

func TestFaultsOnDemand(t *testing.T) {
	t.Parallel()
	s := indexed(t)
	s.Fail("query", 2, 429, 3)
	for i, want := range []int{429, 429, 200} {
		if status, _ := ask(t, s, "GET", "/1/indexes/i/settings", "", nil); status != 200 {
			t.Errorf("another route: got %d", status)
		}
		if status, _ := ask(t, s, "POST", "/1/indexes/i/query", `{}`, nil); status != want {
			t.Errorf("request %d: got %d, want %d", i, status, want)
		}
	}
	list := s.Requests()
	if n := len(list); n < 6 || list[n-1].Status != 200 || list[n-3].Status != 429 || list[n-1].Route != "query" {
		t.Errorf("the list of requests is %+v", list)
	}
	s.Fail("", 5, 500, 0)
	s.ClearFaults()
	if status, _ := ask(t, s, "POST", "/1/indexes/i/query", `{}`, nil); status != 200 {
		t.Errorf("after the faults were forgotten: got %d", status)
	}
}

func TestBrowsePagesThroughAll(t *testing.T) {
	t.Parallel()
	s := indexed(t)
	var body bytes.Buffer
	for i := range 25 {
		fmt.Fprintf(&body, `,{"action":"addObject","body":{"objectID":"b%d","repo":%d}}`, i, i%2)
	}
	_, out := ask(t, s, "POST", "/1/indexes/i/batch", `{"requests":[`+body.String()[1:]+`]}`, nil)
	ask(t, s, "GET", fmt.Sprintf("/1/indexes/i/task/%.0f", out["taskID"]), "", nil)
	seen := map[any]bool{}
	next := `{"filters":"repo:1","hitsPerPage":5}`
	pages := 0
	for ; next != ""; pages++ {
		status, out := ask(t, s, "POST", "/1/indexes/i/browse", next, nil)
		if status != 200 {
			t.Fatalf("browse %s: %d %v", next, status, out)
		}
		for _, hit := range out["hits"].([]any) {
			seen[hit.(map[string]any)["objectID"]] = true
		}
		next = ""
		if cursor, ok := out["cursor"].(string); ok {
			next = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
	}
	if len(seen) != 12 || pages > 3 {
		t.Errorf("saw %d records on %d pages, want 12 on 3", len(seen), pages)
	}
}
