package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"codesage/api/client"
)

const goodAnswer = `{"tool":"t","result":{},"is_error":false}`

// asking returns options by which so many clients ask a server for a moment, and
// at least once.
func asking(t *testing.T, clients int, h http.HandlerFunc) Options {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Options{Clients: clients, Duration: 50 * time.Millisecond, Dial: func() (*client.Client, error) {
		return client.New(client.Config{BaseURL: s.URL, Timeout: 30 * time.Second})
	}}
}

// about asks for one tool.
func about(tool string) []Question {
	return []Question{func(*rand.Rand) client.Call { return call(tool, nil) }}
}

// A client whose call goes wrong waits longer than these benches last, so that
// each asks once.
func TestFaultsAreCountedByToolAndKind(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"detail":"says %d","request_id":"x"}`, code)
		}
	}
	for _, tc := range []struct {
		name string
		h    http.HandlerFunc
		want Fault
	}{
		{"a status", status(503), Fault{Kind: "status 503", Example: "says 503"}},
		{"a refused key", status(401), Fault{Kind: "status 401", Example: "says 401"}},
		{"a tool that refuses", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"tool":"t","result":null,"is_error":true,"error":"first line\n\u001b second %s"}`, strings.Repeat("é", 1000))
		}, Fault{Kind: "refused", Example: "first line second " + strings.Repeat("é", 200-len("first line second "))}},
		{"no answer of the API", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
			Fault{Kind: "other", Example: "CodeSage backend returned an unexpected response; check MCP_SERVER_URL"}},
		{"a broken connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			Fault{Kind: "connection", Example: "CodeSage backend request failed: TransportError: EOF"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := Run(t.Context(), about("some_tool"), asking(t, 3, tc.h))
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Tool, tc.want.Count = "some_tool", 3
			if diff := cmp.Diff([]Fault{tc.want}, got.Faults); diff != "" {
				t.Error(diff)
			}
			if got.Failed() != 3 || got.RateLimited != 0 || got.All.Answers != 0 {
				t.Errorf("%d failed, %d met the limit, %d answers", got.Failed(), got.RateLimited, got.All.Answers)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		o := Options{Clients: 2, Duration: 50 * time.Millisecond, Dial: func() (*client.Client, error) {
			return client.New(client.Config{BaseURL: "http://127.0.0.1:1"})
		}}
		got, err := Run(t.Context(), about("some_tool"), o)
		if err != nil || len(got.Faults) != 1 || got.Faults[0].Kind != "unreachable" || got.Faults[0].Count != 2 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("no answer in time", func(t *testing.T) {
		t.Parallel()
		o := asking(t, 2, func(_ http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body)
			<-q.Context().Done()
		})
		dial := o.Dial
		o.Dial = func() (*client.Client, error) {
			c, err := dial()
			if err != nil {
				return nil, err
			}
			return client.New(client.Config{BaseURL: c.URL(), Timeout: time.Millisecond})
		}
		got, err := Run(t.Context(), about("some_tool"), o)
		if err != nil || len(got.Faults) != 1 || got.Faults[0].Kind != "timeout" || got.Faults[0].Count != 2 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestTheRateLimitIsNoFault(t *testing.T) {
	t.Parallel()
	got, err := Run(t.Context(), about("some_tool"), asking(t, 4, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := Report{Clients: 4, All: Latency{Tool: "all"}, Tools: []Latency{}, RateLimited: 4, Faults: []Fault{}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Report{}, "Seconds")); diff != "" {
		t.Error(diff)
	}
}

func TestGoodAnswersAreMeasuredByTool(t *testing.T) {
	t.Parallel()
	questions := append(about("one"), about("two")...)
	o := asking(t, 8, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, goodAnswer) })
	o.Duration = 100 * time.Millisecond
	got, err := Run(t.Context(), questions, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Tools) != 2 || got.Tools[0].Tool != "one" || got.Tools[1].Tool != "two" || got.All.Tool != "all" {
		t.Fatalf("%+v", got)
	}
	if sum := got.Tools[0].Answers + got.Tools[1].Answers; sum != got.All.Answers || sum < 8 || got.PerSecond != float64(sum)/got.Seconds {
		t.Errorf("%+v", got)
	}
	for _, l := range append(got.Tools, got.All) {
		if l.P50 <= 0 || l.P50 > l.P90 || l.P90 > l.P99 || l.P99 > l.Max {
			t.Errorf("%+v", l)
		}
	}
}

func TestPercentilesAreTimesOfAnswers(t *testing.T) {
	t.Parallel()
	upTo := func(n int) (all []time.Duration) {
		for i := n; i > 0; i-- {
			all = append(all, time.Duration(i)*time.Millisecond)
		}
		return all
	}
	for _, tc := range []struct {
		took []time.Duration
		want Latency
	}{
		{nil, Latency{}},
		{upTo(1), Latency{Answers: 1, P50: 1, P90: 1, P99: 1, Max: 1}},
		{upTo(2), Latency{Answers: 2, P50: 1, P90: 2, P99: 2, Max: 2}},
		{upTo(10), Latency{Answers: 10, P50: 5, P90: 9, P99: 10, Max: 10}},
		{upTo(1000), Latency{Answers: 1000, P50: 500, P90: 900, P99: 990, Max: 1000}},
		{[]time.Duration{1234567}, Latency{Answers: 1, P50: 1.234, P90: 1.234, P99: 1.234, Max: 1.234}},
	} {
		if diff := cmp.Diff(tc.want, latency("", tc.took)); diff != "" {
			t.Errorf("%d times: %s", len(tc.took), diff)
		}
	}
}

// Calls that its end cuts off are no faults of the server's.
func TestABenchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := asking(t, 3, func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body) // else the server does not see that the client went away
		cancel()
		<-q.Context().Done()
	})
	o.Duration = time.Hour
	got, err := Run(ctx, about("some_tool"), o)
	if err != nil || got.Failed() != 0 || got.All.Answers != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheProgressIsTold(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := asking(t, 2, func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if strings.Contains(string(body), "bad") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, goodAnswer)
	})
	o.Duration, o.Every = time.Hour, time.Millisecond
	o.Progress = func(answered, failed int) {
		if answered > 0 && failed > 0 {
			cancel()
		}
	}
	if _, err := Run(ctx, append(about("good"), about("bad")...), o); err != nil {
		t.Error(err)
	}
}

func TestAClientThatCantBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	want := errors.New("no client")
	o := Options{Clients: 2, Duration: time.Hour, Dial: func() (*client.Client, error) { return nil, want }}
	if _, err := Run(t.Context(), about("some_tool"), o); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
