package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
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
			tab.Until("a screen reader is told", `document.getElementById("announce").textContent.startsWith("octo/demo: Refresh failed: the disk is full")`)
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
			var lost atomic.Bool
			back := make(chan struct{}) // until then the connection stays lost
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if refused && r.URL.Path == "/api/v1/events" {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				if lost.Load() && r.URL.Path == "/api/v1/events" {
					select {
					case <-back:
					case <-r.Context().Done():
						return
					}
				}
				e.routes.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			tab := browser.Tab(t)
			tab.Expects("Failed to load resource")
			tab.Open(server.URL + "/")
			if !refused {
				tab.Until("events come", `events.readyState === EventSource.OPEN`)
				lost.Store(true)
				server.CloseClientConnections()
			}
			tab.Until("the page says so", `!document.getElementById("offline").hidden`)
			if got := e.ask("DELETE", "/api/v1/repositories/2", ""); got.status != 204 {
				t.Fatal(got)
			}
			close(back)
			tab.Until("one row is left", `document.querySelectorAll("[data-repository]").length === 1`)
			if !refused {
				tab.Until("all is well again", `document.getElementById("offline").hidden`)
			}
		})
	}
}

// A page that the server refuses to show again says that it may be old, and is
// asked for until it is there.
func TestABrowserTriesAgainWhenRefused(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, nil)
			e.addRepository("octo/one")
			e.addRepository("octo/two")
			var refuse atomic.Bool
			var refused atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if refuse.Load() && r.URL.Path == "/" {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(status)
					refused.Add(1)
					return
				}
				e.routes.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			tab := browser.Tab(t)
			tab.Expects("Failed to load resource")
			tab.Open(server.URL + "/")
			tab.Until("events come", `events.readyState === EventSource.OPEN`)
			refuse.Store(true)
			if got := e.ask("DELETE", "/api/v1/repositories/2", ""); got.status != 204 {
				t.Fatal(got)
			}
			tab.Until("the page says so", `!document.getElementById("offline").hidden`)
			if !tab.Holds(`events.readyState === EventSource.OPEN`) || refused.Load() == 0 {
				t.Error("it is not the page that was refused")
			}
			refuse.Store(false)
			tab.Until("one row is left", `document.querySelectorAll("[data-repository]").length === 1`)
			tab.Until("all is well again", `document.getElementById("offline").hidden`)
		})
	}
}

// A filter that matches nothing takes in what comes to match.
func TestABrowserFindsWhatTheFilterLetsThroughLater(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/one")
	tab := browsertest.Start(t).Tab(t)
	tab.Open(e.url + "/?filter=two")
	tab.Until("there is none", `document.getElementById("live").innerText.includes("No repository matches") && events.readyState === EventSource.OPEN`)
	e.addRepository("octo/two")
	tab.Until("there is one", `document.querySelectorAll("[data-repository]").length === 1`)
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

// barriers lists what would keep people out of a page: fields without a label,
// buttons without a name, headings out of order, pale text, a page that is wider
// than the screen.
const barriers = `(() => {
  const found = [], all = selector => [...document.querySelectorAll(selector)];
  for (const field of all("input:not([type=hidden]), select")) if (!field.labels.length) found.push("no label: " + field.id);
  for (const button of all("button, a")) if (!(button.getAttribute("aria-label") || button.innerText || button.textContent).trim()) found.push("no name: " + button.outerHTML);
  for (const image of all("img:not([alt])")) found.push("no alt: " + image.src);
  for (const cell of all("th:not([scope])")) found.push("no scope: " + cell.innerText);
  for (const bar of all("progress:not([aria-label])")) found.push("no label: " + bar.outerHTML);
  const ids = all("[id]").map(e => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push("twice: " + id);
  for (const e of all("[aria-describedby]")) if (!document.getElementById(e.getAttribute("aria-describedby"))) found.push("not there: " + e.getAttribute("aria-describedby"));
  const levels = all("h1, h2, h3").map(h => Number(h.tagName[1]));
  if (levels.filter(l => l === 1).length !== 1 || levels.some((l, i) => i && l > levels[i-1] + 1)) found.push("headings: " + levels);
  if (!document.documentElement.lang || !document.title || !document.querySelector("main")) found.push("no language, title or main part");
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the screen: " + document.documentElement.scrollWidth);
  const parts = colour => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || !e.checkVisibility()) continue;
    let back = e;
    while (back.parentElement && parts(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
    const a = light(parts(getComputedStyle(e).color)), b = light(parts(getComputedStyle(back).backgroundColor));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push("pale, " + contrast.toFixed(1) + ": " + texts.currentNode.textContent.trim());
  }
  return found.join("\n");
})()`

// Everybody can use the pages: by light and by night, on a small phone, with a
// screen reader, with the keyboard alone.
func TestABrowserFindsNoBarriers(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	engine := &hitEngine{hits: []search.Record{{RepositoryID: 1, EntityName: strings.Repeat("LongName", 30), EntityType: "function", FilePath: strings.Repeat("folder/", 40), Content: strings.Repeat("long ", 90), Description: "Go function: x"}}}
	e := newSearchEnv(t, engine, func(d *Deps) { withKeys(d); d.Folders = true })
	e.addRepository("octo/" + strings.Repeat("demo", 30))
	e.addRepository("octo/going")
	run, err := e.store.CreateRun(t.Context(), store.NewRun{Repository: 2, Trigger: codesage.TriggerReprocess})
	if err != nil {
		t.Fatal(err)
	}
	if run, err = e.store.StartRun(t.Context(), run.ID, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := e.store.Report(t.Context(), run, codesage.Progress{Phase: codesage.PhaseText, TotalFiles: 1000, TextFiles: 10}); err != nil {
		t.Fatal(err)
	}
	tab := browser.Tab(t)
	tab.Expects("the server responded with a status of 404")
	tab.Open(e.url + "/login")
	tab.Type("#key", "write-key")
	tab.Keys("\r")
	tab.Until("the log-in leads on", `location.pathname === "/"`)
	tab.Keys("\t")
	tab.Until("the first key leads to the content", `document.activeElement.className === "skip"`)
	for _, v := range []browsertest.View{{Width: 1280, Height: 800}, {Width: 1280, Height: 800, Dark: true}, {Width: 320, Height: 640}, {Width: 780, Height: 800}, {Width: 1025, Height: 800}} {
		tab.Look(v)
		for _, path := range []string{"/", "/?filter=nothing", "/repositories/1", "/repositories/2", "/repositories/1/delete", "/search", "/search?q=x", "/search?q=x&language=klingon", "/nowhere", "/login?to=/nowhere"} {
			tab.Open(e.url + path)
			if found := tab.Value(barriers); found != "" {
				t.Errorf("%s at %d, dark %v:\n%s", path, v.Width, v.Dark, found)
			}
		}
	}
}
