// Package browsertest gives tests a real browser: a Chromium without a window.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// programEnv names the browser's program when it has another name or place.
const programEnv = "CODESAGE_TEST_BROWSER"

// programs are the names under which a Chromium is looked for.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// patience is how long a test waits for something that a page must do.
const patience = 90 * time.Second

// Browser is a browser that is there until the test ends.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// Start starts a browser, which takes some seconds. It skips the test when there
// is none, or when only quick tests are to run.
func Start(t testing.TB) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is not quick")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(find(t)))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which Chromium refuses to root
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return &Browser{t, ctx}
}

// find returns the browser's program.
func find(t testing.TB) string {
	t.Helper()
	if program := os.Getenv(programEnv); program != "" {
		return program
	}
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("no browser: install chromium, or name one in %s", programEnv)
	return ""
}

// Tab is a page of a person who shares no cookies with others. Its methods end
// the test when they fail.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	faults   []string // errors and warnings of the console
	expected string   // what those hold that are none; empty = all are
}

// Tab opens a tab. When the test ends its console must have shown no error.
func (b *Browser) Tab(t testing.TB) *Tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tab := &Tab{t: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	var reader sync.WaitGroup
	ended := make(chan struct{})
	reader.Go(func() {
		defer close(ended)
		for m, err := range messages {
			if err != nil || m.Text == lastMessage {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
				tab.note(fmt.Sprintf("%s (%s)", m.Text, m.URL))
			}
		}
	})
	t.Cleanup(func() {
		_, _ = chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](`console.log("`+lastMessage+`")`))
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("the console of the browser did not end")
		}
		stop()
		reader.Wait()
		if len(tab.faults) > 0 {
			t.Errorf("the console of the browser shows\n%s", strings.Join(tab.faults, "\n"))
		}
	})
	return tab
}

// note keeps a fault for the end of the test.
func (b *Tab) note(fault string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.expected == "" || !strings.Contains(fault, b.expected) {
		b.faults = append(b.faults, fault)
	}
}

// Expects says that errors of the console that hold a text are none.
func (b *Tab) Expects(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = text
}

// lastMessage is what a tab says when its test has ended.
const lastMessage = "this test has ended"

// do runs steps.
func (b *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v\n%s", what, err, b.page())
	}
}

// Open loads a page.
func (b *Tab) Open(url string) {
	b.t.Helper()
	b.do("open "+url, chromedp.Navigate(url))
}

// Type types into a field that a CSS selector names, after what is in it.
func (b *Tab) Type(field, text string) {
	b.t.Helper()
	b.do("type into "+field, chromedp.SendKeys(chromedp.CSS(field), text))
}

// Choose chooses an option of a select by its value.
func (b *Tab) Choose(field, value string) {
	b.t.Helper()
	b.do("choose in "+field, chromedp.SetValue(chromedp.CSS(field), value))
}

// Click clicks what a CSS selector names.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Keys presses keys, wherever the focus is.
func (b *Tab) Keys(keys string) {
	b.t.Helper()
	b.do("press keys", chromedp.KeyEvent(keys))
}

// Until waits until an expression of JavaScript is true of a page that has been
// loaded.
func (b *Tab) Until(what, expression string) {
	b.t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !b.Holds(`document.readyState === "complete" && (` + expression + `)`) {
		select {
		case <-tick.C:
		case <-limit:
			b.t.Fatalf("waited in vain until %s\n%s", what, b.page())
		}
	}
}

// Holds reports whether an expression is true. Between two pages none is.
func (b *Tab) Holds(expression string) bool {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+expression+`)`))
	return err == nil && holds
}

// Value is the text that an expression of JavaScript gives.
func (b *Tab) Value(expression string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		b.t.Fatalf("evaluate: %v\n%s", err, b.page())
	}
	return text
}

// Text is the text that an element shows.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		b.t.Fatalf("read %s: %v\n%s", selector, err, b.page())
	}
	return text
}

// page is where the tab is and what it shows, for messages.
func (b *Tab) page() string {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return "(no page: " + err.Error() + ")"
	}
	return text
}

// View is how a person looks at pages.
type View struct {
	Width, Height int64
	Dark          bool
	NoScript      bool // JavaScript is off
}

// Look changes how the tab looks at pages, from the next one on.
func (b *Tab) Look(v View) {
	b.t.Helper()
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	b.do("change the view", chromedp.EmulateViewport(v.Width, v.Height))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		b.t.Fatalf("choose %s colours: %v", scheme, err)
	}
	if _, err = chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.NoScript}); err != nil {
		b.t.Fatalf("switch JavaScript: %v", err)
	}
}

// Screenshot writes a picture of the whole page, a PNG.
func (b *Tab) Screenshot(file string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(file, picture, 0o644)
	}
	if err != nil {
		b.t.Fatalf("take a picture: %v", err)
	}
}
