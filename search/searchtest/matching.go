package searchtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
)

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func testAllWords(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "ReadFile", content: "opens and reads"},
		entity{name: "WriteFile", content: "opens and writes"},
		entity{name: "Close", content: "closes a file"})
	s.finds("read file", "ReadFile")
	s.findsAny("file", "ReadFile", "WriteFile", "Close")
	s.findsAny("opens file", "ReadFile", "WriteFile")
	s.finds("nothingofthesort")
}

func testIdentifierParts(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "OvertimeService", kind: codesage.EntityClass, path: "o.py"},
		entity{name: "parseHTMLResponse", content: "user_id", path: "o.py", line: 5},
		entity{name: "TestShallowWithState", path: "s_test.go"},
		entity{name: "get_user_by_mail", path: "u.py"})
	for query, want := range map[string]string{
		"OvertimeService":    "OvertimeService",
		"overtimeservice":    "OvertimeService",
		"overtime service":   "OvertimeService",
		"parseHTMLResponse":  "parseHTMLResponse",
		"html response":      "parseHTMLResponse",
		"WithState":          "TestShallowWithState",
		"ShallowWith":        "TestShallowWithState",
		"shallow state":      "TestShallowWithState",
		"get_user_by_mail":   "get_user_by_mail",
		"user by mail":       "get_user_by_mail",
		"getUserByMail":      "get_user_by_mail",
		"user::mail":         "get_user_by_mail",
		"parse_html":         "parseHTMLResponse",
		"parse-HTML<Reply>_": "parseHTMLResponse",
	} {
		if got := s.names(query); len(got) == 0 || got[0] != want {
			t.Errorf("search %q found %q, want %s first", query, got, want)
		}
	}
	s.findsAny("user id", "parseHTMLResponse")
}

func testLetterCase(t *testing.T, s *suite) {
	s.index(first, entity{name: "parseHTMLResponse"}, entity{name: "TestShallowWithState"})
	for _, query := range []string{"parseHTMLResponse", "PARSEHTMLRESPONSE", "parsehtmlresponse", "ParseHtmlResponse", "HTML", "html"} {
		s.finds(query, "parseHTMLResponse")
	}
	for _, query := range []string{"WithState", "withstate", "WITHSTATE", "withState"} {
		s.finds(query, "TestShallowWithState")
	}
}

func testPlurals(t *testing.T, s *suite) {
	s.index(first, entity{name: "list_repositories"}, entity{name: "RepositoryStore", path: "b.go"}, entity{name: "User", path: "c.go"})
	s.findsAny("repository", "RepositoryStore", "list_repositories")
	s.findsAny("repositories", "RepositoryStore", "list_repositories")
	s.finds("users", "User")
}

func testPrefix(t *testing.T, s *suite) {
	s.index(first, entity{name: "authenticate"}, entity{name: "SessionManager", path: "b.go"})
	s.finds("authent", "authenticate")
	s.finds("session mana", "SessionManager")
	s.finds("mana", "SessionManager")
	s.finds("authent session", "SessionManager") // only the last word is a prefix
}

func testOneTypo(t *testing.T, s *suite) {
	s.index(first, entity{name: "authenticate"}, entity{name: "SessionManager", path: "b.go"}, entity{name: "Config", path: "c.go", content: "redirect"})
	for query, want := range map[string]string{
		"autenticate":     "authenticate",   // left out
		"authentiicate":   "authenticate",   // put in
		"authentikate":    "authenticate",   // replaced
		"autehnticate":    "authenticate",   // swapped
		"sessoin manager": "SessionManager", // one of the words
		"redirct":         "Config",         // in a body
	} {
		s.finds(query, want)
	}
	s.finds("autentcate")          // two typos
	s.finds("confg xyz", "Config") // some words, with a typo
	s.index(codesage.Snapshot{Repository: 2, Run: 1}, entity{name: "bind"})
	if got := s.names("bimd", codesage.Snapshot{Repository: 2, Run: 1}); len(got) > 0 {
		t.Errorf("a word of four letters with a typo found %q", got)
	}
}

func testSomeWords(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "followRedirects", path: "a.go", content: "http"},
		entity{name: "Client", path: "client.go", line: 9, kind: codesage.EntityClass},
		entity{name: "parseCookie", path: "cookie.go"})
	got := s.names("how does the http client follow redirects")
	if len(got) != 2 || got[0] != "followRedirects" {
		t.Errorf("a question found %q, want followRedirects first, which has more of the words, and no parseCookie", got)
	}
	s.finds("cookie zzzzqqq", "parseCookie")
	s.finds("zzzzqqq")
}

func testStopWords(t *testing.T, s *suite) {
	s.index(first, entity{name: "Install", content: "get it"}, entity{name: "where", path: "b.go"}, entity{name: "the_what", path: "c.go"})
	s.finds("what is the install", "Install")
	s.findsAny("what", "the_what")
	s.findsAny("where", "where")
}

func testExactNameFirst(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "StoreApi", kind: codesage.EntityClass, path: "a.go", content: "store store store"},
		entity{name: "createStore", path: "b.go", content: "store"},
		entity{name: "store", path: "z_test.go", isTest: true},
		entity{name: "user_name", path: "u.go"},
		entity{name: "UserNameList", kind: codesage.EntityClass, path: "u.go", line: 9})
	for query, want := range map[string]string{
		"store": "store", "Store": "store", "user name": "user_name", "userName": "user_name", "USER-NAME": "user_name", "create store": "createStore",
	} {
		if got := s.names(query); len(got) == 0 || got[0] != want {
			t.Errorf("search %q found %q, want the exact name first", query, got)
		}
	}
}

func testExactCase(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "Devtools", kind: codesage.EntityClass, path: "a.ts"},
		entity{name: "devtools", path: "b.ts"},
		entity{name: "$SafeParse", kind: codesage.EntityClass, path: "c.ts"},
		entity{name: "safeParse", path: "d.ts"},
		entity{name: "safe_parse", kind: codesage.EntityClass, path: "e.ts"})
	s.finds("devtools", "devtools", "Devtools")
	s.finds("Devtools", "Devtools", "devtools")
	s.finds("DEVTOOLS", "Devtools", "devtools") // by rank weight
	s.finds("$SafeParse", "$SafeParse", "safeParse", "safe_parse")
	if got := s.names("SafeParse"); len(got) != 3 || got[0] != "safeParse" {
		t.Errorf("search SafeParse found %q, want safeParse, which is the query but for case, first", got)
	}
}

func testQualifiedNames(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "Is", path: "errors/wrap.go", desc: "Go function: Is"},
		entity{name: "IsErrors", path: "errors/all.go", kind: codesage.EntityClass, content: "errors is errors"},
		entity{name: "Do", path: "net/http/client.go", desc: "Go function: Client.Do"},
		entity{name: "ClientDo", path: "do/client.go", kind: codesage.EntityClass, content: "http"},
		entity{name: "TestHTTPClientDo", path: "net/http/client_test.go", isTest: true},
		entity{name: "Do", path: "net/http/do_test.go", desc: "Go function: Client.Do", isTest: true},
		entity{name: "QuerySet", path: "django/db/models/query.py", kind: codesage.EntityClass, desc: "Python class: QuerySet"},
		entity{name: "Mutex", path: "tokio/src/sync/mutex.rs", kind: codesage.EntityClass, desc: "Rust struct: Mutex"},
		entity{name: "add", path: "lib/shop.ex", desc: "Elixir function: Shop.Cart.add"},
		entity{name: "cart_add", path: "lib/other.ex"})
	for query, want := range map[string]string{
		"errors.Is":             "errors/wrap.go",
		"errors.is":             "errors/wrap.go",
		"Client.Do":             "net/http/client.go",
		"http.Client.Do":        "net/http/client.go",
		"net/http.Client.Do":    "net/http/client.go",
		"(*Client).Do":          "net/http/client.go",
		"http.Do":               "net/http/client.go",
		"db.models.QuerySet":    "django/db/models/query.py",
		"query.QuerySet":        "django/db/models/query.py",
		"tokio::sync::Mutex":    "tokio/src/sync/mutex.rs",
		"Shop.Cart.add":         "lib/shop.ex",
		"Cart#add":              "lib/shop.ex",
		"cart->add":             "lib/shop.ex",
		`Shop\Cart::add`:        "lib/shop.ex",
		"where is Client.Do":    "net/http/client.go",
		"Client.Do( errors.Is(": "errors/wrap.go",
	} {
		if got := s.search(search.Query{Text: query}); len(got.Hits) == 0 || got.Hits[0].FilePath != want {
			t.Errorf("search %q found %s, want %s first", query, places(got), want)
		}
	}
}

func testNameAndPlace(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "Decoder", path: "encoding/json/stream.go", desc: "Go type: Decoder", kind: codesage.EntityClass},
		entity{name: "TestDecoderOfJSON", path: "encoding/json/stream_test.go", isTest: true},
		entity{name: "FillJSONDecoder", path: "a.go"},
		entity{name: "scattered", path: "a.go", line: 9, sig: "json decoder", content: "json decoder json decoder"})
	for _, query := range []string{"json decoder", "decoder json", "JSON decoders"} {
		got := s.names(query)
		if fmt.Sprint(sorted(got)) != "[Decoder FillJSONDecoder TestDecoderOfJSON scattered]" || got[len(got)-1] != "scattered" {
			t.Errorf("search %q found %q, want all, scattered last", query, got)
		}
		if query != "JSON decoders" && got[0] != "Decoder" {
			t.Errorf("search %q found %q, want Decoder first", query, got)
		}
	}
}

func testFieldOrder(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "one", path: "a.go", content: "uses the widget and widget"},
		entity{name: "two", path: "lib/widget.go"},
		entity{name: "three", path: "c.go", sig: "func three(w widget)"},
		entity{name: "make_widget", path: "d.go"})
	s.finds("widget", "make_widget", "three", "two", "one")
}

func testSourceBeforeTests(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "parse_config", path: "a/conf_test.py", isTest: true, content: "same"},
		entity{name: "parse_config", path: "b/conf.py", content: "same"})
	r := s.search(search.Query{Text: "parse config"})
	if len(r.Hits) != 2 || r.Hits[0].IsTest != 0 {
		t.Errorf("got %d hits, want the source before the test", len(r.Hits))
	}
}

func testRankWeight(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "gadget", kind: codesage.EntityDocSection, path: "a.md"},
		entity{name: "gadget", kind: codesage.EntityFunction, path: "b.md"},
		entity{name: "gadget", kind: codesage.EntityClass, path: "c.md"})
	var got []codesage.EntityType
	for _, h := range s.search(search.Query{Text: "gadget"}).Hits {
		got = append(got, h.EntityType)
	}
	want := []codesage.EntityType{codesage.EntityClass, codesage.EntityFunction, codesage.EntityDocSection}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func testPathAndLine(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "run", path: "b.py", line: 5}, entity{name: "run", path: "b.py", line: 9},
		entity{name: "run", path: "a.py", line: 7}, entity{name: "run", path: "a.py", line: 8})
	want := "[a.py:7 a.py:8 b.py:5 b.py:9]"
	if got := places(s.search(search.Query{Text: "run"})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func places(r search.Result) string {
	var list []string
	for _, h := range r.Hits {
		list = append(list, fmt.Sprintf("%s:%d", h.FilePath, h.LineStart))
	}
	return fmt.Sprint(list)
}

func testSameOrderEveryTime(t *testing.T, s *suite) {
	var all []entity
	for i := range 60 {
		all = append(all, entity{name: "run", path: fmt.Sprintf("%c%d.py", 'a'+i%7, i), line: i%3 + 1})
	}
	s.index(first, all...)
	q := search.Query{Text: "run", Limit: 3}
	want := places(s.search(q))
	for range 20 {
		if got := places(s.search(q)); got != want {
			t.Fatalf("got %s, before %s", got, want)
		}
	}
}

func testImportsOnRequest(t *testing.T, s *suite) {
	s.index(first, entity{name: "react", kind: codesage.EntityImport}, entity{name: "useReact", path: "b.go"})
	s.finds("react", "useReact")
	if got := names(s.search(search.Query{Text: "react", EntityType: codesage.EntityImport})); fmt.Sprint(got) != "[react]" {
		t.Errorf("imports: got %q, want [react]", got)
	}
}

func testFilters(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "Load", lang: "go", path: "a.go"},
		entity{name: "load", lang: "python", path: "a.py"},
		entity{name: "Loader", lang: "python", path: "b.py", kind: codesage.EntityClass})
	for _, test := range []struct {
		q    search.Query
		want string
	}{
		{search.Query{Text: "load", Language: "python"}, "[load Loader]"},
		{search.Query{Text: "load", EntityType: codesage.EntityClass}, "[Loader]"},
		{search.Query{Text: "load", Language: "go", EntityType: codesage.EntityClass}, "[]"},
		{search.Query{Text: "load", Language: "pyth"}, "[]"},
	} {
		if got := names(s.search(test.q)); fmt.Sprint(got) != test.want {
			t.Errorf("%+v: got %q, want %s", test.q, got, test.want)
		}
	}
}

func testFiltersAreValues(t *testing.T, s *suite) {
	s.index(first, entity{name: "Load"}, entity{name: "odd", lang: `a"b\c`, path: "b.go"})
	for _, value := range []string{`go" OR language:"python`, "go OR go", `go\`, "'go'", "*", "go\x00", "GO", "g", `" OR ""="`} {
		if got := names(s.search(search.Query{Text: "load", Language: value})); len(got) > 0 {
			t.Errorf("language %q let %q through", value, got)
		}
		if got := names(s.search(search.Query{Text: "load", EntityType: codesage.EntityType(value)})); len(got) > 0 {
			t.Errorf("entity type %q let %q through", value, got)
		}
	}
	if got := names(s.search(search.Query{Text: "odd", Language: `a"b\c`})); fmt.Sprint(got) != "[odd]" {
		t.Errorf("a language with quotes found %q, want [odd]", got)
	}
}

func testAnyQueryText(t *testing.T, s *suite) {
	s.index(first, entity{name: "Vector", sig: "std::vector<int>"})
	for _, text := range []string{
		"", " ", "\x00", "\xff\xfe", strings.Repeat(`"`, 512), strings.Repeat("(", 256) + strings.Repeat(")", 256), strings.Repeat("a ", 256),
		strings.Repeat("x", 512), strings.Repeat("日本", 80), "שלום עולם", "\u202eabc", "a:b:c", "-vector", "+vector -int", "vector AND", "OR", "NOT NOT",
		"vector*", "v?ctor", "vector~2", "vector^9", "[a TO z]", "{}", "C:\\temp", "fmt.Printf(\"%s\")", "array[0]", "a && !b", "*ptr", "😀", "İstanbul",
		"filters=1", "&hitsPerPage=1000", strings.Repeat("é", 256), "'; DROP TABLE x; --", strings.Repeat("ab cd ", 85),
	} {
		s.search(search.Query{Text: text})
		if _, err := s.engine.Suggest(t.Context(), text, []codesage.Snapshot{first}, 10); err != nil {
			t.Errorf("suggest %q: %v", text, err)
		}
	}
	s.finds("std::vector<int>", "Vector")
}

func testNoWords(t *testing.T, s *suite) {
	s.index(first, entity{name: "Load"})
	for _, text := range []string{"", "   ", "!?", `""`} {
		s.finds(text)
	}
}
