package algolia

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/search"
	"codesage/search/algolia/algoliatest"
	"codesage/trace"
)

// A clock notes how long it was asked to sleep.
type clock struct {
	mu    sync.Mutex
	slept []time.Duration
	hook  func()
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept = append(c.slept, d)
	if c.hook != nil {
		c.hook()
	}
	return ctx.Err()
}

func (c *clock) taken() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.slept
	c.slept = nil
	return list
}

var load = search.Query{Text: "load", Scope: []codesage.Snapshot{{Repository: 1, Run: 1}}, Limit: 10}

func TestSearchIsAskedAgainOn429And5xx(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 500, 502, 503, 504, 408} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var c clock
			e, s := openFake(t, Config{Sleep: c.sleep})
			index(t, e, 1, 1, tree{"a.go": {"load"}})
			c.taken()
			s.Fail("query", triesOfSearch-1, status, 0)
			r, err := e.Search(t.Context(), load)
			if err != nil || r.TotalHits != 1 {
				t.Errorf("got %d hits, %v, want 1", r.TotalHits, err)
			}
			slept := c.taken()
			if len(slept) != triesOfSearch-1 || slept[0] < firstDelay/2 || slept[1] < firstDelay || slept[1] > 2*firstDelay {
				t.Errorf("slept %v, want growing pauses", slept)
			}
		})
	}
}

// What is asked again, cleaned up or rebuilt for a run or a request is logged with
// its id.
func TestLinesHaveTheIDOfTheirCaller(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e, s := openFake(t, Config{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	log.Reset()
	s.Fail("query", 1, 503, 0)
	if _, err := e.Search(trace.WithOrigin(t.Context(), trace.Origin{Request: "r1"}), load); err != nil {
		t.Error(err)
	}
	w, err := e.Begin(trace.WithOrigin(t.Context(), trace.Origin{Run: 3}), codesage.Repository{ID: 2}, 2, codesage.Run{ID: 3})
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	for _, want := range []string{
		`msg="ask algolia again" request=r1 `,
		`msg="search records are not those of the base, and can't be rebuilt" run=3 repository=2 of_run=2 `,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in\n%s", want, log.String())
		}
	}
}

func TestSearchGivesUpAsUnavailable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status, requests int
		detail           string
	}{
		{429, triesOfSearch, "on demand"},
		{503, triesOfSearch, "answered 503"},
		{400, 1, "on demand"},
		{403, 1, "on demand"},
	} {
		t.Run(fmt.Sprint(test.status), func(t *testing.T) {
			e, s := openFake(t, Config{})
			index(t, e, 1, 1, tree{"a.go": {"load"}})
			s.Requests()
			s.Fail("query", 100, test.status, 0)
			_, err := e.Search(t.Context(), load)
			if !errors.Is(err, codesage.ErrUnavailable) || err.Error() != "Search is unavailable; try again later." {
				t.Errorf("got %v, want that search is unavailable", err)
			}
			if cause := errors.Unwrap(err); cause == nil || !strings.Contains(cause.Error(), test.detail) {
				t.Errorf("the cause is %v, want the detail %q in it", cause, test.detail)
			}
			if got := len(s.Requests()); got != test.requests {
				t.Errorf("asked %d times, want %d", got, test.requests)
			}
			for name, err := range map[string]error{
				"ping":      e.Ping(t.Context()),
				"suggest":   second(e.Suggest(t.Context(), "load", load.Scope, 5)),
				"languages": second(e.Languages(t.Context(), load.Scope)),
			} {
				if !errors.Is(err, codesage.ErrUnavailable) {
					t.Errorf("%s: got %v, want KindUnavailable", name, err)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	var c clock
	e, s := openFake(t, Config{Sleep: c.sleep})
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	c.taken()
	s.Fail("query", 1, 429, 7)
	s.Fail("query", 1, 429, 100_000)
	if _, err := e.Search(t.Context(), load); err != nil {
		t.Fatal(err)
	}
	if got, want := c.taken(), []time.Duration{7 * time.Second, maxRetryAfter}; !slices.Equal(got, want) {
		t.Errorf("slept %v, want %v", got, want)
	}
}

func TestWritesOutlastTrouble(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	before := tree{"a.go": names("a", 3)}
	index(t, e, 1, 1, before)
	after := tree{"b.go": names("b", 3)}
	for _, route := range []string{"batch", "task", "query"} {
		s.Fail(route, triesOfWrite-1, 429, 0)
	}
	w := begin(t, e, 1, 1, 2)
	write(t, w, 1, 2, before, after)
	for _, route := range []string{"batch", "task"} {
		s.Fail(route, triesOfWrite-1, 503, 0)
	}
	commit(t, w)
	wantEntities(t, e, 1, after)
}

func TestCancelledContextEndsEveryWait(t *testing.T) {
	t.Parallel()
	var c clock
	e, s := openFake(t, Config{Sleep: c.sleep})
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	for name, call := range map[string]func(ctx context.Context) error{
		"search": func(ctx context.Context) error { return second(e.Search(ctx, load)) },
		"retain": func(ctx context.Context) error { return e.Retain(ctx, keeping(nil)) },
		"begin": func(ctx context.Context) error {
			return second(e.Begin(ctx, codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2}))
		},
		"ping": e.Ping,
	} {
		s.Requests()
		ctx, cancel := context.WithCancel(t.Context())
		s.Fail("", 1, 503, 0)
		c.hook = cancel
		if err := call(ctx); !errors.Is(err, codesage.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want KindUnavailable because of the context", name, err)
		}
		c.hook = nil
		if got := len(s.Requests()); got != 1 {
			t.Errorf("%s: asked %d times after the context ended, want 1", name, got)
		}
	}
}

func TestContextThatEndsAroundTheAnswerIsNoEmptyResult(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	ctx, cancel := context.WithCancel(t.Context())
	s.OnRequest(func(algoliatest.Request) { cancel() })
	if _, err := e.Search(ctx, load); !errors.Is(err, context.Canceled) {
		t.Errorf("before the answer: got %v, want the context's error", err)
	}
	s.OnRequest(nil)

	ctx, cancel = context.WithCancel(t.Context())
	send := s.Client().Transport
	late := openAt(t, s, Config{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := send.RoundTrip(r)
		if strings.HasSuffix(r.URL.Path, "/query") {
			cancel()
		}
		return res, err
	})}})
	if r, err := late.Search(ctx, load); !errors.Is(err, context.Canceled) {
		t.Errorf("after the answer: got %d hits, %v, want the context's error", r.TotalHits, err)
	}
}

func TestNextHostIsAskedWhenOneIsAway(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{})
	e := openAt(t, s, Config{Hosts: []string{"127.0.0.1:1", s.Host()}})
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	if r, err := e.Search(t.Context(), load); err != nil || r.TotalHits != 1 {
		t.Errorf("got %d hits, %v, want 1", r.TotalHits, err)
	}
}

// roundTrip is a service in a function.
type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := f(r)
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return res, err
}

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// A proxy may show what it was sent in any part of its answer.
func TestKeyIsInNoErrorAndNoLog(t *testing.T) {
	t.Parallel()
	key := algoliatest.AdminKey
	for name, answer := range map[string]roundTrip{
		"refused": func(*http.Request) (*http.Response, error) {
			return response(403, `{"message":"bad key `+key+`","status":403}`), nil
		},
		"slow down": func(*http.Request) (*http.Response, error) {
			return response(429, `{"message":"`+key+`","status":429}`), nil
		},
		"page":      func(*http.Request) (*http.Response, error) { return response(502, "<html>"+key), nil },
		"odd page":  func(*http.Request) (*http.Response, error) { return response(200, "<html>"+key), nil },
		"odd error": func(*http.Request) (*http.Response, error) { return response(404, key), nil },
		"no answer": func(r *http.Request) (*http.Response, error) { return nil, fmt.Errorf("send %v", r.Header) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c := Config{AppID: algoliatest.AppID, AdminKey: key, IndexName: "entities", Log: log, HTTP: &http.Client{Transport: answer}, Sleep: noSleep}
			e, err := Open(t.Context(), c)
			failures := []error{err}
			if name == "refused" && !errors.Is(err, codesage.ErrDenied) {
				t.Errorf("open: got %v, want KindDenied", err)
			}
			if e != nil {
				failures = append(failures, e.Ping(t.Context()), second(e.Search(t.Context(), load)), e.Retain(t.Context(), keeping(nil)),
					second(e.Begin(t.Context(), codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2})))
			}
			for _, err := range failures {
				for ; err != nil; err = errors.Unwrap(err) {
					fmt.Fprintf(&out, "%v %+v %#v\n", err, err, err)
				}
			}
			if out.Len() == 0 || strings.Contains(out.String(), key) {
				t.Errorf("the key shows, or nothing does:\n%s", out.String())
			}
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var asked []string
	c := Config{AppID: algoliatest.AppID, AdminKey: algoliatest.AdminKey, IndexName: "entities", Sleep: noSleep, Hosts: []string{"search.example"},
		HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Host)
			res := response(http.StatusTemporaryRedirect, "")
			res.Header.Set("Location", "https://elsewhere.example/")
			return res, nil
		})}}
	e, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Ping(t.Context()); !errors.Is(err, codesage.ErrUnavailable) {
		t.Errorf("got %v, want KindUnavailable", err)
	}
	if len(asked) == 0 || slices.Contains(asked, "elsewhere.example") {
		t.Errorf("asked %q, want the host only", asked)
	}
}
