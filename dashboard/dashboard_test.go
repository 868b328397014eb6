package dashboard

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
)

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1: "-1", -123: "-123", -1234: "-1,234"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 105 << 20: "105.0 MiB", 3 << 40: "3.0 TiB", 5000 << 40: "5000.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

// Every template renders what there is least of, and all of it.
func TestEveryPageRenders(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC)
	run := codesage.Run{
		ID: 9, Status: codesage.StatusFailed, Phase: codesage.PhaseSymbols, Trigger: codesage.TriggerReprocess, Force: true, Attempt: 2,
		TotalFiles: 5, ProcessedFiles: 3, Entities: 8, PeakMemory: 3 << 20, Skipped: map[codesage.SkipReason]int{codesage.SkipBinary: 2, codesage.SkipEncoding: 9},
		Language: "go", Framework: "gin", Error: "no space", Commit: strings.Repeat("ab", 20), CreatedAt: now, StartedAt: now, FinishedAt: now.Add(1500 * time.Millisecond),
	}
	going := codesage.Run{ID: 10, Status: codesage.StatusProcessing, Phase: codesage.PhaseText, TotalFiles: 50, TextFiles: 20, CreatedAt: now}
	full := codesage.Repository{
		ID: 1, Name: "octo/demo", Session: "octo-demo", Source: codesage.SourceGit, URL: "https://github.com/octo/demo", Branch: "main", Description: "what it is",
		Options: codesage.IndexOptions{Include: []string{"src/**"}, Exclude: []string{"a", "b"}}, CreatedAt: now, Latest: &going, Published: &run,
	}
	page := NewRepository(full)
	page.Runs, page.Skips, page.SkipTotal, page.SkipTrail, page.SkipNext = NewRuns([]codesage.Run{going, run}), []codesage.Skip{{Path: "x&y.png", Reason: codesage.SkipBinary}}, 3, []string{"v", "w"}, "x&y.png"
	for _, tc := range []struct {
		name string
		page Page
		want []string
	}{
		{"no repositories", NewRepositories(nil, "", 0, AddForm{}), []string{"Nothing is indexed yet"}},
		{"a new repository", NewRepositories([]codesage.Repository{{ID: 1}}, "", 0, AddForm{}), []string{`data-version=""`}},
		{"repositories", NewRepositories([]codesage.Repository{full}, "", 0, AddForm{Folders: true}), []string{`max="50" value="20"`, "reading text", "20/50 files", `data-version="10 processing"`, `action="/folders"`}},
		{"a new repository's page", NewRepository(codesage.Repository{ID: 1}), []string{"<p class=\"quiet\">None.</p>"}},
		{"a repository's page", page, []string{
			"only src/**; without a, b", "abababababab", "1.5 s", "3.0 MiB", "no space", "finding symbols", "from scratch", "attempt 2",
			`<span class="line">encoding: 9</span><span class="line">binary: 2</span>`, `href="/repositories/1?after=v&amp;after=w&amp;after=x%26y.png#skipped"`, `<a rel="prev" href="/repositories/1?after=v#skipped">`, `<a href="/repositories/1#skipped">First page`, `data-page="/repositories/1?after=v&amp;after=w"`, "what it is",
		}},
		{"delete", NewDelete(full), []string{"and the run that is going is cancelled"}},
		{"search", Search{}, []string{"doc_section"}},
		{"nothing found", Search{Query: "x", Language: "go", Asked: true}, []string{"Try fewer or other words, or fewer filters"}},
		{"found", Search{Query: "x", Asked: true, Total: 2, Pages: 1, Hits: []Hit{{Start: 4, End: 4, Path: "a.go", Signature: "func f()", Snippet: "func f() {}"}, {Start: 4, End: 9, Path: "b.go", Signature: "func g(a, b)", Snippet: "func g(a,\nb) {}"}}}, []string{"2 results", "a.go:4<", "b.go:4–9<", "<code>func g(a, b)</code>"}},
		{"log-in", Login{Error: "wrong", To: "/search"}, []string{`aria-invalid="true"`, `value="/search"`}},
		{"error", Error{Status: 503, Detail: "away", Request: "r1"}, []string{"Not available right now", "away", "<code>r1</code>"}},
	} {
		w := httptest.NewRecorder()
		if err := New(line).Render(w, 200, Frame{Path: "/", Token: "tok", MayRead: true, MayWrite: true, LoggedIn: true, Monitoring: true}, tc.page); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		for _, want := range append(tc.want, "<main", "Log out", `value="tok"`) {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: no %q in %s", tc.name, want, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), "ZgotmplZ") || strings.Contains(w.Body.String(), "%!") {
			t.Errorf("%s: %s", tc.name, w.Body)
		}
	}
}

// line stands for the server's way to show names.
func line(text string) string { return strings.ReplaceAll(text, "\u202e", `\u202e`) }

// Nothing of others turns the direction of the text around it, and names and
// paths show what would.
func TestForeignTextIsIsolated(t *testing.T) {
	t.Parallel()
	const name, text = "name\u202e", "text\u202e"
	repo := codesage.Repository{ID: 1, Name: name, Session: name, URL: name, Branch: name, Description: text, Options: codesage.IndexOptions{Include: []string{name}}}
	folder := codesage.Repository{ID: 2, Name: name, Path: name}
	page := NewRepository(repo)
	page.Skips, page.SkipTotal = []codesage.Skip{{Path: name}}, 1
	hit := Hit{In: name, Name: name, Path: name, Description: text, Signature: "1" + text, Snippet: "2" + text}
	linked := hit
	linked.URL = "https://example.com/"
	isolated := regexp.MustCompile(`(?s)<(?:pre|code|bdi|title|option)\b.*?</(?:pre|code|bdi|title|option)>|="[^"]*"`)
	unseen := regexp.MustCompile(` (?:value|data-text|href)="[^"]*"`)
	for _, p := range []Page{
		NewRepositories([]codesage.Repository{repo, folder}, "", 0, AddForm{There: repo, URL: "x", Errors: map[string]string{"url": "e"}}),
		NewRepositories([]codesage.Repository{folder}, name+" nothing", 0, AddForm{}),
		page, NewRepository(folder), NewDelete(repo), Error{Detail: text},
		Search{Query: name, Repositories: []codesage.Repository{repo}, Asked: true, Total: 2, Pages: 1, Hits: []Hit{hit, linked}},
	} {
		w := httptest.NewRecorder()
		if err := New(line).Render(w, 200, Frame{Path: "/", MayRead: true, MayWrite: true}, p); err != nil {
			t.Fatal(err)
		}
		rest := isolated.ReplaceAllString(w.Body.String(), "")
		if at := regexp.MustCompile(`.*(?:name\\u202e|\x{202e}).*`).FindString(rest); at != "" {
			t.Errorf("%T: not isolated: %s", p, at)
		}
		if at := regexp.MustCompile(`.*name\x{202e}.*`).FindString(unseen.ReplaceAllString(w.Body.String(), "")); at != "" {
			t.Errorf("%T: not visible: %s", p, at)
		}
	}
}

// A link keeps the way to its page, so far as there is room.
func TestTheWayBackIsBounded(t *testing.T) {
	t.Parallel()
	var long []string
	for i := range 30 {
		long = append(long, fmt.Sprint(i))
	}
	wide := []string{"a", strings.Repeat("b", 1500), strings.Repeat("c", 600), "d"}
	for _, tc := range []struct {
		name        string
		trail, want []string
	}{
		{"short", []string{"a", "b"}, []string{"a", "b"}},
		{"long", long, long[10:]},
		{"wide", wide, wide[2:]},
		{"one that is wide", []string{"a", strings.Repeat("b", 4000)}, []string{strings.Repeat("b", 4000)}},
	} {
		page := NewRepository(codesage.Repository{ID: 1})
		page.SkipTrail = tc.trail
		u, err := url.Parse(page.Here())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, u.Query()["after"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestRepositoriesAreInOrderAndFiltered(t *testing.T) {
	t.Parallel()
	all := []codesage.Repository{
		{ID: 1, Name: "zeta", Path: "/src/zeta"}, {ID: 2, Name: "Alpha", URL: "https://github.com/octo/Alpha", Published: &codesage.Run{Language: "go", Framework: "gin"}}, {ID: 3, Name: "beta", Branch: "dev"},
	}
	for filter, want := range map[string][]codesage.RepositoryID{
		"": {2, 3, 1}, "SRC": {1}, "go gin": {2}, "github.com/octo": {2}, "dev": {3}, "beta zeta": nil, "pending": {2, 3, 1},
	} {
		var got []codesage.RepositoryID
		for _, row := range NewRepositories(all, filter, 0, AddForm{}).Rows {
			got = append(got, row.Repo.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", filter, diff)
		}
	}
	if all[0].ID != 1 {
		t.Error("the caller's list was sorted")
	}
}

func TestPatternsOfAFolder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		o    codesage.IndexOptions
		want string
	}{
		{codesage.IndexOptions{}, ""},
		{codesage.IndexOptions{Exclude: codesage.Excluding([]string{})}, "nothing left out"},
		{codesage.IndexOptions{Include: []string{"a", "b"}, Exclude: []string{"c"}}, "only a, b; without c"},
	} {
		if got := NewRepository(codesage.Repository{Options: tc.o}).Patterns(); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.o, got, tc.want)
		}
	}
}
