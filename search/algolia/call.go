package algolia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/algolia/algoliasearch-client-go/v3/algolia/errs"

	"codesage"
	"codesage/trace"
)

// How long the client waits for one host, and how often all hosts are asked.
// The client goes to the next host by itself when one is away or answers 5xx; it
// gives up at once on 429 and after the last host.
const (
	readTimeout   = 3 * time.Second
	writeTimeout  = 30 * time.Second
	searchTimeout = 15 * time.Second // of a search with all its tries: a reader waits
	triesOfSearch = 3
	triesOfWrite  = 9
	firstDelay    = 200 * time.Millisecond
	maxDelay      = 20 * time.Second
	maxRetryAfter = time.Minute

	firstPoll   = 100 * time.Millisecond
	maxPoll     = 5 * time.Second
	taskTimeout = 15 * time.Minute
)

// unavailable is what a caller of the engine gets; the cause is for the log.
func unavailable(cause error) error {
	return &codesage.Error{Kind: codesage.KindUnavailable,
		Message: "Search is unavailable; try again later.", Err: cause}
}

// unwritable is what the caller of a writer gets. A key that the service refuses
// stays refused until somebody acts, so it is not away: KindDenied. Nor is one
// whose quota is used up: KindTooLarge.
func unwritable(cause error) error {
	var f *failure
	if errors.As(cause, &f) && f.isQuota {
		return &codesage.Error{Kind: codesage.KindTooLarge,
			Message: "Algolia says that a quota of the application ALGOLIA_APP_ID is used up; free some of it or change the plan, or set SEARCH_ENGINE=local",
			Err:     cause}
	}
	if !hasStatus(cause, http.StatusUnauthorized) && !hasStatus(cause, http.StatusForbidden) {
		return unavailable(cause)
	}
	return &codesage.Error{Kind: codesage.KindDenied,
		Message: "Algolia refuses the key; set ALGOLIA_ADMIN_API_KEY to one of the application ALGOLIA_APP_ID that may search, browse, write, delete and change settings",
		Err:     cause}
}

// failure is an answer, or the lack of one, in words that hold no key. status is
// zero when no host answered; isOwn says that the body gives it too, as the
// service's own do and those of a proxy don't. isQuota says that the service
// refused because the plan of the account is used up, which has the status of a
// refused key.
type failure struct {
	status         int
	isOwn, isQuota bool
	text           string
}

func (f *failure) Error() string { return f.text }

// hasStatus reports whether the service itself answered with a status.
func hasStatus(err error, status int) bool {
	var f *failure
	return errors.As(err, &f) && f.isOwn && f.status == status
}

// An attempt notes what the hosts answered to one call of the client, which
// keeps it to itself. The client asks hosts one after the other.
type attempt struct {
	notes      []string
	status     int
	retryAfter time.Duration
}

type attemptKey struct{}

// requester implements the client's transport.Requester.
type requester struct{ http *http.Client }

func newRequester(c *http.Client) *requester {
	if c == nil {
		c = &http.Client{Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second, KeepAlive: 5 * time.Minute}).DialContext,
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: 2 * time.Second,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     time.Minute,
		}}
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &requester{&own}
}

// Request sends a request and notes the outcome in its context's attempt.
func (r *requester) Request(req *http.Request) (*http.Response, error) {
	res, err := r.http.Do(req)
	a, ok := req.Context().Value(attemptKey{}).(*attempt)
	switch {
	case !ok:
	case err != nil:
		a.status = 0
		a.notes = append(a.notes, fmt.Sprintf("%s: %v", req.URL.Host, errors.Unwrap(err)))
	default:
		a.status = res.StatusCode
		a.notes = append(a.notes, fmt.Sprintf("%s answered %d", req.URL.Host, res.StatusCode))
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
			a.retryAfter = min(time.Duration(s)*time.Second, maxRetryAfter)
		}
	}
	if err == nil {
		res.Body = &boundedBody{ReadCloser: res.Body, most: maxAnswer(req)}
	}
	return res, err
}

// How much of an answer is read, after decompression. The largest page of a search
// has 50 records of 10 kB, which may come with characters escaped; that of a browse
// a thousand.
const (
	maxAnswerBytes = 2 << 20
	maxBrowseBytes = 16 << 20
)

func maxAnswer(req *http.Request) int64 {
	if strings.HasSuffix(req.URL.Path, "/browse") {
		return maxBrowseBytes
	}
	return maxAnswerBytes
}

// A boundedBody fails when there is more to read than the most.
type boundedBody struct {
	io.ReadCloser
	read, most int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.most-b.read+1)])
	if b.read += int64(n); b.read > b.most {
		return 0, fmt.Errorf("the answer is longer than %d bytes", b.most)
	}
	return n, err
}

// call lets the client ask until it has an answer: after a pause when it is told
// to slow down, when all hosts are away or in trouble, and when an answer can't
// be read. What the service refuses is not asked again. The error is a failure,
// or the context's.
func (e *Engine) call(ctx context.Context, what string, tries int, ask func(ctx context.Context) error) error {
	for n := 1; ; n++ {
		a := &attempt{}
		err := ask(context.WithValue(ctx, attemptKey{}, a))
		// The client returns no error when the context ends after the answer came
		// and before it was read.
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
		if err == nil {
			return nil
		}
		f := e.failure(what, err, a)
		isRefused := f.status >= 400 && f.status < 500 && f.status != http.StatusTooManyRequests && f.status != http.StatusRequestTimeout
		if isRefused || n == tries {
			return f
		}
		wait := max(backoff(n), a.retryAfter)
		trace.Log(ctx, e.c.Log).Debug("ask algolia again", "try", n, "wait", wait, "err", f)
		if err := e.c.Sleep(ctx, wait); err != nil {
			return fmt.Errorf("%w: %w", f, err)
		}
	}
}

// maxFailureText bounds what of an answer, which may be a proxy's page, goes to
// the log.
const maxFailureText = 500

func (e *Engine) failure(what string, err error, a *attempt) *failure {
	text, isOwn, isQuota := strings.Join(a.notes, ", "), false, false
	if refused, ok := errs.IsAlgoliaErr(err); ok {
		isOwn = refused.Status == a.status
		isQuota = isOwn && a.status == http.StatusForbidden && strings.Contains(strings.ToLower(refused.Message), "quota")
		text += ": " + refused.Message
	} else if a.status == 0 || a.status < 500 {
		text += ": " + err.Error()
	}
	text = strings.ReplaceAll(what+": "+text, e.c.AdminKey, "[key]")
	if len(text) > maxFailureText {
		text = strings.ToValidUTF8(text[:maxFailureText], "") + "…"
	}
	return &failure{status: a.status, isOwn: isOwn, isQuota: isQuota, text: text}
}

// backoff is the pause after the n-th try: doubled each time, and by up to a half
// shorter so that processes don't ask in step.
func backoff(n int) time.Duration {
	d := min(firstDelay<<min(n-1, 10), maxDelay)
	return d - rand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await returns when the service has carried a task out, so that searches see
// it.
func (e *Engine) await(ctx context.Context, task int64) error {
	poll := firstPoll
	for waited := time.Duration(0); ; waited += poll {
		isDone := false
		err := e.call(ctx, "ask for task", triesOfWrite, func(ctx context.Context) error {
			res, err := e.index.GetStatus(task, ctx)
			isDone = res.Status == "published"
			if err == nil && !isDone && res.Status != "notPublished" {
				err = errors.New("the answer has no status of the task")
			}
			return err
		})
		if err != nil || isDone {
			return err
		}
		if waited > taskTimeout {
			return &failure{text: fmt.Sprintf("task %d is not done after %s", task, taskTimeout)}
		}
		if err := e.c.Sleep(ctx, poll); err != nil {
			return fmt.Errorf("wait for task %d: %w", task, err)
		}
		poll = min(poll*3/2, maxPoll)
	}
}
