// Package monitor is the queue's web UI, asynqmon's, for reading only: what
// waits, what is worked on, by which worker. It makes pages fit to be served by
// a server that loads nothing from elsewhere; who may see them is the caller's.
package monitor

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"

	"codesage/queue"
)

// Root is the path below which the UI is served.
const Root = "/monitoring"

// contentTypes are those that asynqmon guesses wrong, by extension.
var contentTypes = map[string]string{
	".svg":  "image/svg+xml",
	".json": "application/json",
	".map":  "application/json",
}

// UI serves the pages. It is safe for concurrent use and holds nothing that has
// to be closed.
type UI struct {
	mon    http.Handler
	index  []byte
	policy string // content security policy of the index
}

// New returns the UI of the queue on a Redis client, which stays the caller's to
// close. It asks Redis nothing yet.
func New(rdb redis.UniversalClient) (*UI, error) {
	if e, ok := rdb.(*queue.Embedded); ok {
		rdb = e.Client // asynqmon knows the driver's own types only
	}
	u := &UI{mon: asynqmon.New(asynqmon.Options{
		RootPath:         Root,
		RedisConnOpt:     shared{rdb},
		ReadOnly:         true,
		PayloadFormatter: asynqmon.PayloadFormatterFunc(payload),
		ResultFormatter:  asynqmon.ResultFormatterFunc(payload),
	})}
	r, err := http.NewRequest(http.MethodGet, Root+"/", nil)
	if err != nil {
		return nil, err
	}
	page := answer{header: http.Header{}}
	u.mon.ServeHTTP(&page, r)
	if page.status != http.StatusOK {
		return nil, fmt.Errorf("read the index page of the queue's web UI: status %d", page.status)
	}
	u.index, u.policy = localise(page.body.Bytes())
	return u, nil
}

// shared lends asynq a client that is ours to close.
type shared struct{ client redis.UniversalClient }

// MakeRedisClient implements asynq.RedisConnOpt.
func (s shared) MakeRedisClient() any { return s.client }

// payload shows a task's payload, which is a run id, and nothing else that may
// have come into the queue.
func payload(_ string, raw []byte) string {
	if len(raw) > 20 || len(bytes.Trim(raw, "0123456789")) > 0 {
		return "(not shown)"
	}
	return string(raw)
}

// ServeHTTP answers GET and HEAD; the rest is 405.
func (u *UI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "This page is for reading only", http.StatusMethodNotAllowed)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, Root+"/")
	switch {
	case !ok:
		http.Redirect(w, r, Root+"/", http.StatusFound)
	case rest == "api/metrics": // asks a Prometheus server, of which there is none
		http.NotFound(w, r)
	case strings.HasPrefix(rest, "api/"):
		u.serveData(w, r)
	default:
		u.serveFile(w, r)
	}
}

// notFound is how asynq says that there is no such queue, in one way or another.
var notFound = regexp.MustCompile(`NOT_FOUND|queue not found`)

// serveData answers with what the page shows. Why the queue did not answer is
// not for the page.
func (u *UI) serveData(w http.ResponseWriter, r *http.Request) {
	data := answer{header: http.Header{}}
	u.mon.ServeHTTP(&data, r)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if data.status >= http.StatusInternalServerError && notFound.Match(data.body.Bytes()) {
		http.NotFound(w, r)
		return
	}
	if data.status >= http.StatusInternalServerError {
		http.Error(w, "The job queue can't be reached; try again later.", http.StatusServiceUnavailable)
		return
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(data.status)
	_, _ = w.Write(data.body.Bytes())
}

// serveFile answers with a file of the UI, or with the index: the page's script
// makes paths of its own.
func (u *UI) serveFile(w http.ResponseWriter, r *http.Request) {
	file := answer{header: http.Header{}}
	u.mon.ServeHTTP(&file, r)
	h := w.Header()
	kind := file.header.Get("Content-Type")
	if file.status == http.StatusOK && kind == "" { // the index, as asynqmon has it
		h.Set("Content-Security-Policy", u.policy)
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(u.index)
		return
	}
	if better, ok := contentTypes[path.Ext(r.URL.Path)]; ok {
		kind = better
	}
	h.Set("Content-Type", kind)
	if file.status == http.StatusOK {
		h.Set("Cache-Control", "private, max-age=86400")
	} else if to := file.header.Get("Location"); to != "" {
		h.Set("Location", to)
	}
	w.WriteHeader(file.status)
	_, _ = w.Write(file.body.Bytes())
}

var (
	remoteLink   = regexp.MustCompile(`<link[^>]*href="(?:https?:)?//[^>]*>`)
	remoteSource = regexp.MustCompile(`<script[^>]*src="(?:https?:)?//[^>]*></script>`)
	inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
)

// localise takes out of a page what would be loaded from elsewhere, and returns
// it with the policy that allows what is left: the page's own scripts, named by
// their hashes, and styles, which its script makes at run time.
func localise(page []byte) (local []byte, policy string) {
	local = remoteSource.ReplaceAll(remoteLink.ReplaceAll(page, nil), nil)
	scripts := "script-src 'self'"
	for _, m := range inlineScript.FindAllSubmatch(local, -1) {
		sum := sha256.Sum256(m[1])
		scripts += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return local, strings.Join([]string{
		"default-src 'none'", scripts, "style-src 'self' 'unsafe-inline'", "img-src 'self' data:", "font-src 'self'",
		"connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")
}

// answer keeps an answer.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}
