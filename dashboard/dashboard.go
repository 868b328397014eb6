// Package dashboard is the server's web pages: the repositories and what happens
// with them, search, and the log-in. It makes HTML of what it is given; the
// handlers, and with them every rule, are the API's.
//
// Pages work without JavaScript. The script adds live progress, suggestions and a
// filter that answers at once. Nothing is loaded from elsewhere.
package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed templates
var templates embed.FS

//go:embed assets
var assets embed.FS

// AssetRoot is the path below which the server serves Asset.
const AssetRoot = "/assets/"

// Policy is the content security policy of every page.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Dashboard renders pages. It is safe for concurrent use.
type Dashboard struct {
	pages  map[string]*template.Template // by the name of the template's file
	assets map[string]asset              // by their name in a URL
	urls   map[string]string             // of assets, by the name of their file
}

// asset is a file that pages load.
type asset struct {
	contentType string
	body        []byte
}

// Page is the content of a page. The types of this package implement it.
type Page interface {
	file() string  // its template
	title() string // for the window
}

// Frame is what is around the content of a page: who looks at it.
type Frame struct {
	Path       string // of the page, for the navigation
	Token      string // for the forms, which send it back
	MayRead    bool
	MayWrite   bool
	LoggedIn   bool // by the log-in, not by a header
	Monitoring bool // there is a page of the queue
}

// New returns the pages. line shows a name or a path of others with what could
// hide or turn parts of it made visible.
func New(line func(string) string) *Dashboard {
	d := &Dashboard{pages: map[string]*template.Template{}, assets: map[string]asset{}, urls: map[string]string{}}
	for _, f := range entries(assets, "assets") {
		d.addAsset(f)
	}
	layout := template.Must(template.New("layout.html").Funcs(d.funcs(line)).ParseFS(templates, "templates/layout.html", "templates/parts.html"))
	for _, f := range entries(templates, "templates") {
		if f != "layout.html" && f != "parts.html" {
			d.pages[f] = template.Must(template.Must(layout.Clone()).ParseFS(templates, "templates/"+f))
		}
	}
	return d
}

// entries are the names of a folder's embedded files.
func entries(fs embed.FS, folder string) []string {
	list, err := fs.ReadDir(folder)
	if err != nil {
		panic(err) // they are a part of the program
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}

// addAsset gives a file a name that holds a hash of its content, so that
// browsers may keep it for good.
func (d *Dashboard) addAsset(file string) {
	body, err := assets.ReadFile("assets/" + file)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(body)
	extension := path.Ext(file)
	name := strings.TrimSuffix(file, extension) + "." + hex.EncodeToString(sum[:6]) + extension
	contentType := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}[extension]
	d.assets[name] = asset{contentType, body}
	d.urls[file] = AssetRoot + name
}

// Asset answers with a file that pages load, by its name; ok is false when there
// is none of that name.
func (d *Dashboard) Asset(w http.ResponseWriter, name string) (ok bool) {
	a, ok := d.assets[name]
	if !ok {
		return false
	}
	h := w.Header()
	secure(h)
	h.Set("Content-Type", a.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.body)
	return true
}

// Render answers with a page. It writes nothing when it fails.
func (d *Dashboard) Render(w http.ResponseWriter, status int, f Frame, p Page) error {
	t, ok := d.pages[p.file()]
	if !ok {
		return fmt.Errorf("render page: no template %s", p.file())
	}
	var body bytes.Buffer
	if err := t.Execute(&body, view{f, p}); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	h := w.Header()
	secure(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
	return nil
}

// secure sets what keeps other pages away. The Origin header of forms, which the
// server checks, needs a referrer policy that is not no-referrer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// view is what a template sees.
type view struct {
	Frame
	Page Page
}

// Title is the title of the window.
func (v view) Title() string {
	if t := v.Page.title(); t != "" {
		return t + " – CodeSage"
	}
	return "CodeSage"
}

// part lets a template give a part of a page, beside the view, what it is about.
type part struct {
	view
	Item any
}

func (d *Dashboard) funcs(line func(string) string) template.FuncMap {
	return template.FuncMap{
		"asset": func(file string) string { return d.urls[file] },
		"part":  func(v view, item any) part { return part{v, item} },
		"count": count,
		"line":  line,
		"inc":   func(n int) int { return n + 1 },
		"bytes": size,
		"when":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
		"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"short": func(commit string) string { return commit[:min(len(commit), 12)] },
	}
}

// count writes a number with commas between thousands.
func count(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// size writes a number of bytes for people.
func size(n int64) string {
	value, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
