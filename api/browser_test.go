package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/dashboard/browsertest"
	"codesage/search"
	"codesage/store"
)

// row is where the page shows repository 1.
const row = `document.querySelector('[data-repository="1"]')`

// A page follows a run to its end without being loaded again.
func TestABrowserShowsARunAsItGoes(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for _, path := range []string{"/", "/repositories/1"} {
		t.Run(path, func(t *testing.T) {
			ctx := t.Context()
			e := newEnv(t, nil)
			e.addRepository("octo/demo")
			run, err := e.store.CreateRun(ctx, store.NewRun{Repository: 1, Trigger: codesage.TriggerReprocess})
			if err != nil {
				t.Fatal(err)
			}
			tab := browser.Tab(t)
			tab.Open(e.url + path)
			tab.Until("the run waits", row+`.innerText.includes("pending") && `+row+`.innerText.includes("waiting") && !`+row+`.querySelector("progress").hasAttribute("value")`)
			tab.Until("the page is marked", `window.kept = true`)
			if run, err = e.store.StartRun(ctx, run.ID, time.Hour); err != nil {
				t.Fatal(err)
			}
			for _, p := range []codesage.Progress{
				{Phase: codesage.PhaseText, TotalFiles: 2000, TextFiles: 100, ProcessedFiles: 0},
				{Phase: codesage.PhaseSymbols, TotalFiles: 2000, TextFiles: 2000, ProcessedFiles: 1500},
			} {
				if err := e.store.Report(ctx, run, p); err != nil {
					t.Fatal(err)
				}
				done, words := 100, "reading text 100/2,000 files"
				if p.Phase == codesage.PhaseSymbols {
					done, words = 1500, "finding symbols 1,500/2,000 files"
				}
				tab.Until(words, fmt.Sprintf(`%s.innerText.includes(%q) && %s.querySelector("progress").value === %d`, row, words, row, done))
			}
			if err := e.store.FailRun(ctx, run, codesage.Progress{}, "the disk is full"); err != nil {
				t.Fatal(err)
			}
			tab.Until("the run has failed", row+`.innerText.includes("Refresh failed: the disk is full") && !`+row+`.querySelector("progress")`)
			tab.Until("a screen reader is told", `document.getElementById("announce").textContent === "octo/demo: completed"`)
			if !tab.Holds("window.kept") {
				t.Error("the page was loaded again")
			}
		})
	}
}

// The list takes in what others add and lets go what they remove, keeps the
// filter and the focus, and does without events when they are refused.
func TestABrowserKeepsTheListUpToDate(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/one")
	e.addRepository("octo/two")
	tab := browsertest.Start(t).Tab(t)
	tab.Open(e.url + "/")
	rows := func(n int) string {
		return fmt.Sprintf(`[...document.querySelectorAll("[data-repository]")].filter(row => !row.hidden).length === %d`, n)
	}
	tab.Until("there are two rows", rows(2))
	tab.Type("#filter", "TW octo")
	tab.Until("one is left", rows(1))
	tab.Until("the focus is on a button", `document.getElementById("run-2").focus() || document.activeElement.id === "run-2"`)
	e.addRepository("octo/twofold")
	tab.Until("the third one is there", rows(2))
	if !tab.Holds(`document.activeElement.id === "run-2"`) {
		t.Error("the focus is lost")
	}
	if got := e.ask("DELETE", "/api/v1/repositories/2", ""); got.status != 204 {
		t.Fatal(got)
	}
	tab.Until("it is gone", rows(1))
	tab.Type("#filter", " nothing")
	tab.Until("none matches", rows(0)+` && !document.getElementById("none").hidden`)
}

// What happened while the connection was lost is there when it is back, and a
// server that refuses events is asked for the page instead.
func TestABrowserCatchesUp(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for _, refused := range []bool{false, true} {
		t.Run(fmt.Sprintf("events refused %v", refused), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, nil)
			e.addRepository("octo/one")
			e.addRepository("octo/two")
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if refused && r.URL.Path == "/api/v1/events" {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				e.routes.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			tab := browser.Tab(t)
			tab.Expects("Failed to load resource")
			tab.Open(server.URL + "/")
			if !refused {
				tab.Until("events come", `events.readyState === EventSource.OPEN`)
				server.CloseClientConnections()
			}
			tab.Until("the page says so", `!document.getElementById("offline").hidden`)
			if got := e.ask("DELETE", "/api/v1/repositories/2", ""); got.status != 204 {
				t.Fatal(got)
			}
			tab.Until("one row is left", `document.querySelectorAll("[data-repository]").length === 1`)
			if !refused {
				tab.Until("all is well again", `document.getElementById("offline").hidden`)
			}
		})
	}
}

// Browsers keep the log-in from links of other sites; the page of the log-in then
// goes on by itself.
func TestABrowserComesFromAnotherSite(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	e := newEnv(t, withKeys)
	e.addRepository("octo/demo")
	here := strings.Replace(e.url, "127.0.0.1", "localhost", 1)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<link rel="icon" href="data:,"><a href="%s/repositories/1">look</a>`, here)
	}))
	t.Cleanup(other.Close)
	tab := browser.Tab(t)
	tab.Open(other.URL)
	tab.Click("a")
	tab.Until("the log-in is asked for", `document.getElementById("key")`)
	tab.Type("#key", "read-key")
	tab.Keys("\r")
	tab.Until("it leads on", `location.pathname === "/repositories/1"`)
	tab.Open(other.URL)
	tab.Click("a")
	tab.Until("it is not asked for again", `location.pathname === "/repositories/1"`)
}

func TestABrowserCompletesNames(t *testing.T) {
	t.Parallel()
	engine := &hitEngine{nameEngine: nameEngine{names: []string{"startServer", "restart", "stop"}}, hits: []search.Record{{RepositoryID: 1, EntityName: "startServer", Content: "<b>bold</b>"}}}
	e := newSearchEnv(t, engine, nil)
	e.addRepository("octo/demo")
	tab := browsertest.Start(t).Tab(t)
	tab.Open(e.url + "/search")
	tab.Until("the field has the focus", `document.activeElement.id === "q"`)
	tab.Keys("star")
	tab.Until("names are offered", `[...document.getElementById("suggestions").options].map(o => o.value).join() === "startServer,restart"`)
	tab.Keys("\r")
	tab.Until("the hit is shown as text", `document.querySelector(".hits pre").textContent === "<b>bold</b>"`)
}
