package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"codesage/dashboard/browsertest"
)

// The keys of the servers that browsers visit.
const (
	browserKey     = "the-key-of-the-browser"
	browserReadKey = "the-read-key-of-the-browser"
)

// visit starts a server with keys and opens its dashboard with one of them.
func visit(t *testing.T, key string, v browsertest.View) (*server, *browsertest.Tab) {
	t.Helper()
	browser := browsertest.Start(t)
	s := newServer(t, "CODESAGE_API_KEY="+browserKey, "CODESAGE_READ_KEY="+browserReadKey)
	tab := browser.Tab(t)
	tab.Look(v)
	tab.Open(s.url + "/search")
	tab.Until("the log-in is shown", `location.pathname === "/login"`)
	tab.Type("#key", key)
	tab.Click("main button")
	tab.Until("the log-in leads on", `location.pathname === "/search"`)
	tab.Open(s.url + "/")
	return s, tab
}

// project writes a folder with n Go files and a README.
func project(t *testing.T, name string, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	files := map[string]string{"README.md": "# Greeter\n\nSays hello.\n", "logo.png": "\x89PNG\r\n\x1a\n\x00"}
	for i := range n {
		files[fmt.Sprintf("greet/greet%d.go", i)] = fmt.Sprintf("package greet\n\n// Greet%d returns <b>hello</b>.\nfunc Greet%d(name string) string { return \"hello \" + name }\n", i, i)
	}
	writeFiles(t, dir, files)
	return dir
}

// desk is how most people look at it.
var desk = browsertest.View{Width: 1280, Height: 900}

// addInBrowser adds a folder with the form.
func addInBrowser(tab *browsertest.Tab, dir string) {
	tab.Type("#path", dir)
	tab.Click(`form[action="/folders"] button`)
	tab.Until("the folder's page is shown", `location.pathname === "/repositories/1"`)
}

func TestABrowserIndexesAFolderAndSearchesIt(t *testing.T) {
	t.Parallel()
	s, tab := visit(t, browserKey, desk)
	addInBrowser(tab, project(t, "greeter", 300))
	tab.Until("the page is marked", `window.kept = true`)
	tab.Until("the run has completed", `document.querySelector('[data-status="completed"]')`)
	if !tab.Holds(`window.kept && document.querySelector('[data-label="Files"]').innerText.includes("301")`) {
		t.Errorf("the page was loaded again, or misses files: %s", tab.Text("main"))
	}
	tab.Click("header a[href='/search']")
	tab.Until("search is shown", `document.getElementById("q")`)
	tab.Type("#q", "Greet7")
	tab.Until("names are offered", `[...document.getElementById("suggestions").options].some(o => o.value === "Greet7")`)
	tab.Click("main button")
	tab.Until("it is found", `document.querySelector(".hits h2")?.innerText.startsWith("Greet7")`)
	tab.Click(".where a")
	tab.Until("the repository is shown", `document.querySelector("#runs .completed") && document.querySelector("#skipped").innerText.includes("logo.png")`)
	tab.Open(s.url + "/monitoring/")
	tab.Until("the queue is shown", `document.title.includes("Asynq")`)
	tab.Open(s.url + "/")
	tab.Click("#delete-1")
	tab.Until("it asks", `document.querySelector("h1").innerText === "Delete greeter?"`)
	tab.Click("button.danger")
	tab.Until("nothing is left", `document.querySelector(".empty h2")`)
	tab.Click("header form button")
	tab.Until("nobody is logged in", `location.pathname === "/login"`)
	tab.Open(s.url + "/repositories/1")
	tab.Until("the log-in is asked for", `location.pathname === "/login"`)
}

func TestABrowserWithTheReadKeySeesNoButtons(t *testing.T) {
	t.Parallel()
	s, tab := visit(t, browserReadKey, desk)
	if out := (command{args: []string{"add", project(t, "greeter", 3)}, env: settings{"MCP_SERVER_URL=" + s.url, "CODESAGE_API_KEY=" + browserKey}}).run(t); out.code != exitOK {
		t.Fatal(out.stderr)
	}
	tab.Until("the run has completed", `document.querySelector('[data-status="completed"]')`)
	for _, path := range []string{"/", "/repositories/1", "/search?q=greet"} {
		tab.Open(s.url + path)
		tab.Until("the page is shown", `document.querySelector(".badge").innerText === "read only"`)
		if !tab.Holds(`document.querySelectorAll("form[method=post]").length === 1 && !document.querySelector("[href$=delete]")`) { // to log out
			t.Errorf("%s offers changes: %s", path, tab.Text("body"))
		}
	}
}

func TestABrowserWithoutScriptsDoesAll(t *testing.T) {
	t.Parallel()
	noScript := desk
	noScript.NoScript = true
	s, tab := visit(t, browserKey, noScript)
	tab.Type("#session", "greeter") // which the script would fill in
	addInBrowser(tab, project(t, "greeter", 3))
	if tab.Holds(`document.documentElement.classList.contains("script")`) {
		t.Fatal("scripts run")
	}
	s.eventually("the page, loaded again, shows the end", func() bool {
		tab.Open(s.url + "/")
		return tab.Holds(`document.querySelector('[data-status="completed"]')`)
	})
	tab.Type("#filter", "nothing")
	tab.Click(".filter button")
	tab.Until("nothing matches", `location.search === "?filter=nothing" && document.querySelector(".empty").innerText.includes("No repository matches")`)
	tab.Open(s.url + "/search")
	tab.Type("#q", "greet1")
	tab.Choose("#type", "function")
	tab.Click("main button")
	tab.Until("it is found", `document.querySelector(".hits h2")?.innerText.startsWith("Greet1")`)
	tab.Open(s.url + "/repositories/1")
	tab.Click("#run-1")
	tab.Until("a second run is listed", `document.querySelectorAll("#runs tbody tr").length === 2`)
	s.eventually("a second run is over", func() bool {
		tab.Open(s.url + "/repositories/1")
		return tab.Holds(`document.querySelectorAll("#runs .completed").length === 2`)
	})
	tab.Click("#delete-1")
	tab.Until("it asks", `document.querySelector("button.danger")`)
	tab.Click("button.danger")
	tab.Until("nothing is left", `document.querySelector(".empty h2")`)
}

// picturesVariable names the folder into which pictures of the pages are put.
const picturesVariable = "CODESAGE_SCREENSHOTS"

// TestScreenshots takes pictures for people to look at; `make screenshots` runs
// it.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(picturesVariable)
	if dir == "" {
		t.Skipf("pictures are taken when %s names a folder", picturesVariable)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, tab := visit(t, browserKey, desk)
	tab.Expects("the server responded with a status of 4") // the pages of errors
	views := map[string]browsertest.View{
		"light": desk, "dark": {Width: 1280, Height: 900, Dark: true}, "phone": {Width: 390, Height: 844}, "phone-dark": {Width: 390, Height: 844, Dark: true},
	}
	take := func(page, path string) {
		for name, view := range views {
			tab.Look(view)
			tab.Open(s.url + path)
			tab.Until("the page is complete", `document.readyState === "complete"`)
			tab.Screenshot(filepath.Join(dir, page+"-"+name+".png"))
		}
		tab.Look(desk)
	}
	take("empty", "/")
	tab.Open(s.url + "/")
	addInBrowser(tab, project(t, "greeter", 40))
	tab.Until("the run has completed", `document.querySelector('[data-status="completed"]')`)
	gone := project(t, "a-rather-long-name-of-a-folder-with-services", 12)
	for i, path := range []string{gone, "../.."} {
		full, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		tab.Open(s.url + "/")
		tab.Type("#path", full)
		tab.Click(`form[action="/folders"] button`)
		tab.Until("the folder's page is shown", fmt.Sprintf(`location.pathname === "/repositories/%d"`, i+2))
	}
	tab.Until("the tree is being parsed", `document.querySelector("progress")?.value > 0`)
	take("repositories", "/")
	take("repository-going", "/repositories/3")
	tab.Open(s.url + "/")
	tab.Until("the runs have completed", `document.querySelectorAll('[data-status="completed"]').length === 3`)
	take("repository", "/repositories/1")
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	tab.Open(s.url + "/")
	tab.Click("#run-2")
	tab.Until("the refresh has failed", `document.querySelector(".error")`)
	take("repositories-failed", "/")
	take("repository-failed", "/repositories/2")
	take("search", "/search?q=greet&repository=1&type=doc_section")
	take("search-code", "/search?q=parse+pool&repository=3&type=class")
	take("search-nothing", "/search?q=x&language=klingon")
	take("delete", "/repositories/1/delete")
	take("not-found", "/nowhere")
	tab.Open(s.url + "/")
	tab.Type("#url", "http://example.com/x")
	tab.Click(`form[action="/repositories"] button`)
	tab.Until("the form says what is wrong", `document.querySelector("[role=alert]")`)
	tab.Screenshot(filepath.Join(dir, "form-light.png"))
	tab.Click("header form button")
	tab.Until("nobody is logged in", `location.pathname === "/login"`)
	take("login", "/login")
}
