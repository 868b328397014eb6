// Package webhook takes the push events of GitHub, GitLab and Bitbucket and
// starts a run of the repository that was pushed to.
//
// The secret is the key of a webhook: GitHub and Bitbucket sign the body with
// it, GitLab sends it as a token. An event that does not prove that it knows the
// secret is answered 401 and does nothing. Every other event is answered with a
// 2xx, also one of a repository that is not indexed: a webhook of a whole
// organisation tells of all its repositories, and hosts switch off webhooks that
// keep failing. 202 means that the push will be indexed, 200 that there is
// nothing to do; the body says what came of it. 503 means that a part of the server
// is away: the event may be sent again later.
package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/trace"
)

const (
	// maxBody is the size at which GitHub itself gives a delivery up.
	maxBody = 25 << 20

	// readTime is how long a body may wait for its turn, and then take. Hosts wait
	// 10 s for the answer.
	readTime = 5 * time.Second

	// passTime is how long the catalog may take.
	passTime = 10 * time.Second
)

// pusher is catalog.Catalog.
type pusher interface {
	Pushed(ctx context.Context, p catalog.Push) (codesage.Repository, catalog.PushResult, error)
}

// Handler answers POST …/github, …/gitlab and …/bitbucket. It is safe for
// concurrent use.
type Handler struct {
	secret  string
	catalog pusher
	log     *slog.Logger
	gate    *gate
}

// New returns the handler of a secret, which must not be empty: without one
// there are no webhooks.
func New(secret string, c pusher, log *slog.Logger) *Handler {
	if secret == "" {
		panic("webhook: no secret")
	}
	return &Handler{secret: secret, catalog: c, log: log, gate: newGate()}
}

// ServeHTTP implements http.Handler. The last segment of the path names the
// host.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// What is refused unread must not be waited for either. Not every writer has
	// deadlines; the server's own limits hold then.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(2 * readTime))
	host, ok := hosts[path.Base(r.URL.Path)]
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "Not Found")
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	case !host.plausible(r.Header, h.secret):
		refuse(w, http.StatusUnauthorized, "Invalid or missing webhook signature")
		return
	}
	from := client(r.RemoteAddr)
	if wait := h.gate.blocked(from, time.Now()); wait > 0 && !host.proves(r.Header, h.secret) {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		refuse(w, http.StatusTooManyRequests, "Too many wrong signatures; try again later.")
		return
	}
	body, ok := h.read(w, r)
	switch {
	case !ok:
		return
	case !host.genuine(r.Header, h.secret, body):
		h.gate.refused(from, time.Now())
		refuse(w, http.StatusUnauthorized, "Invalid or missing webhook signature")
		return
	}
	pushes, err := host.pushes(r.Header, body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "The event could not be read: "+err.Error())
		return
	}
	h.pass(w, r, host, pushes)
}

// read reads the body of a request, or answers.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	deadline := http.NewResponseController(w)
	limited, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	leave, ok := h.gate.enter(limited, client(r.RemoteAddr))
	if !ok {
		_ = deadline.SetReadDeadline(time.Now())
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "Too many events at once; try again later.")
		return nil, false
	}
	_ = deadline.SetReadDeadline(time.Now().Add(readTime))
	defer leave()
	held := &holding{Reader: http.MaxBytesReader(w, r.Body, maxBody), gate: h.gate}
	defer func() { _ = h.gate.hold(-held.held) }()
	body, err := io.ReadAll(held)
	if err == nil {
		_ = deadline.SetReadDeadline(time.Time{}) // the catalog may take longer
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "The event is too large")
	case errors.Is(err, errHeld):
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "Too many events at once; try again later.")
	case err != nil:
		refuse(w, http.StatusBadRequest, "The body could not be read")
	}
	return body, err == nil
}

// pass tells the catalog of pushes and answers.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request, from host, pushes []catalog.Push) {
	if len(pushes) == 0 {
		reply(w, http.StatusOK, outcome{Status: "ignored", Reason: "no push to a branch"})
		return
	}
	log := trace.Log(r.Context(), h.log)
	ctx, cancel := context.WithTimeout(r.Context(), passTime)
	defer cancel()
	var best outcome
	for _, p := range pushes {
		repo, result, err := h.catalog.Pushed(ctx, p)
		if err != nil {
			log.Error("webhook", "host", from.name, "err", err)
			fail(w, err)
			return
		}
		log.Info("webhook", "host", from.name, "repository", repo.Name, "branch", p.Branch, "result", result)
		if o := outcomeOf(repo, result); best.Status != accepted {
			best = o
		}
	}
	status := http.StatusOK
	if best.Status == accepted {
		status = http.StatusAccepted
	}
	reply(w, status, best)
}

// accepted is the status of an event that leads to a run.
const accepted = "accepted"

// outcome is the body of an answer.
type outcome struct {
	Status       string                `json:"status"` // accepted or ignored
	Reason       string                `json:"reason"`
	RepositoryID codesage.RepositoryID `json:"repository_id,omitempty"`
}

func outcomeOf(repo codesage.Repository, result catalog.PushResult) outcome {
	o := outcome{Status: "ignored", Reason: string(result), RepositoryID: repo.ID}
	switch result {
	case catalog.PushStarted, catalog.PushWaits, catalog.PushFollows:
		o.Status = accepted
	}
	return o
}

// fail answers that the catalog could not take a push.
func fail(w http.ResponseWriter, err error) {
	var known *codesage.Error
	switch {
	case errors.As(err, &known) && known.Kind == codesage.KindUnavailable:
		refuse(w, http.StatusServiceUnavailable, known.Message)
	case errors.Is(err, context.DeadlineExceeded):
		refuse(w, http.StatusServiceUnavailable, "The server did not answer in time; try again")
	default:
		refuse(w, http.StatusInternalServerError, "Internal server error")
	}
}

func refuse(w http.ResponseWriter, status int, detail string) {
	reply(w, status, map[string]string{"detail": detail})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
