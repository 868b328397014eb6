package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"codesage/api/client"
)

// Report is what came of asking.
type Report struct {
	Clients     int       `json:"clients"`
	Seconds     float64   `json:"seconds"`
	PerSecond   float64   `json:"answers_per_second"`
	All         Latency   `json:"all"`
	Tools       []Latency `json:"tools"`        // those that answered, by name
	RateLimited int       `json:"rate_limited"` // calls with status 429, which are not among the faults
	Faults      []Fault   `json:"errors"`       // by tool and kind
}

// Failed is how many calls went wrong, not counting those that met the rate
// limit.
func (r Report) Failed() int {
	n := 0
	for _, f := range r.Faults {
		n += f.Count
	}
	return n
}

// Latency is how long the good answers of a tool took, in milliseconds; without
// answers all is 0. A percentile is the time of an answer, not a mean of two.
type Latency struct {
	Tool    string  `json:"tool"` // "all" for all tools together
	Answers int     `json:"answers"`
	P50     float64 `json:"p50_ms"`
	P90     float64 `json:"p90_ms"`
	P99     float64 `json:"p99_ms"`
	Max     float64 `json:"max_ms"`
}

// Fault is a way in which calls of a tool went wrong.
type Fault struct {
	Tool    string `json:"tool"`
	Kind    string `json:"kind"` // "status 503", "refused", "timeout", "unreachable", "connection" or "other"
	Count   int    `json:"count"`
	Example string `json:"example"` // what was said the first time
}

// maxExample is how many characters of a message are kept.
const maxExample = 200

// tally counts what came of calls. It is safe for concurrent use.
type tally struct {
	mu      sync.Mutex
	took    map[string][]time.Duration // of good answers, by tool
	answers int
	failed  int
	limited int
	faults  map[faultKey]*Fault
}

type faultKey struct{ tool, kind string }

func newTally() *tally {
	return &tally{took: map[string][]time.Duration{}, faults: map[faultKey]*Fault{}}
}

// add counts a call and reports whether it had a good answer.
func (t *tally) add(tool string, took time.Duration, answer client.Envelope, err error) bool {
	kind, message := kindOf(answer, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch kind {
	case "":
		t.took[tool] = append(t.took[tool], took)
		t.answers++
		return true
	case rateLimited:
		t.limited++
	default:
		key := faultKey{tool, kind}
		if t.faults[key] == nil {
			t.faults[key] = &Fault{Tool: tool, Kind: kind, Example: oneLine(message)}
		}
		t.faults[key].Count++
		t.failed++
	}
	return false
}

// oneLine is the begin of a message, as one line that a terminal can show.
func oneLine(message string) string {
	words := strings.FieldsFunc(message, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	return fmt.Sprintf("%.*s", maxExample, strings.Join(words, " "))
}

const rateLimited = "rate limited"

// kindOf tells how a call went wrong; empty for a good answer.
func kindOf(answer client.Envelope, err error) (kind, message string) {
	var status *client.StatusError
	var timeout *client.TimeoutError
	var unreachable *client.UnreachableError
	var transport *client.TransportError
	switch {
	case err == nil && answer.IsError:
		return "refused", answer.Error
	case err == nil:
		return "", ""
	case errors.As(err, &status) && status.Status == http.StatusTooManyRequests:
		return rateLimited, ""
	case errors.As(err, &status):
		return fmt.Sprintf("status %d", status.Status), status.Detail
	case errors.As(err, &timeout):
		return "timeout", err.Error()
	case errors.As(err, &unreachable):
		return "unreachable", err.Error()
	case errors.As(err, &transport):
		return "connection", err.Error()
	}
	return "other", err.Error()
}

// sums are how many calls had an answer and how many had none.
func (t *tally) sums() (answered, failed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answers, t.failed + t.limited
}

// report closes the tally, which must not be used any more.
func (t *tally) report(clients int, length time.Duration) Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := Report{
		Clients: clients, Seconds: length.Seconds(), PerSecond: float64(t.answers) / length.Seconds(),
		Tools: []Latency{}, RateLimited: t.limited, Faults: []Fault{},
	}
	all := make([]time.Duration, 0, t.answers)
	for _, tool := range slices.Sorted(maps.Keys(t.took)) {
		all = append(all, t.took[tool]...)
		r.Tools = append(r.Tools, latency(tool, t.took[tool]))
	}
	r.All = latency("all", all)
	for _, f := range t.faults {
		r.Faults = append(r.Faults, *f)
	}
	slices.SortFunc(r.Faults, func(a, b Fault) int { return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Kind, b.Kind)) })
	return r
}

// latency sorts times and finds their percentiles by nearest rank.
func latency(tool string, took []time.Duration) Latency {
	if len(took) == 0 {
		return Latency{Tool: tool}
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		rank := int(math.Ceil(share * float64(len(took))))
		return float64(took[rank-1].Microseconds()) / 1000
	}
	return Latency{Tool: tool, Answers: len(took), P50: at(.5), P90: at(.9), P99: at(.99), Max: at(1)}
}
