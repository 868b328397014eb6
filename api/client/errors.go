package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"codesage"
)

// URLError says that the server's URL is not one of http or https with a host.
type URLError struct {
	URL string // without a login
}

// Error is the text that the bridge reports.
func (e *URLError) Error() string {
	return fmt.Sprintf("MCP_SERVER_URL must start with http:// or https:// (got '%s')", e.URL)
}

// InsecureError says that a key or a login would have gone over plain http.
type InsecureError struct {
	Host string
}

// Error says what to do instead.
func (e *InsecureError) Error() string {
	return fmt.Sprintf("Refusing to send credentials over plain http to %s; use https://, or set CODESAGE_ALLOW_INSECURE_AUTH=1 on a trusted network", e.Host)
}

// UnreachableError says that no connection came about, twice.
type UnreachableError struct {
	URL      string
	Loopback bool
	Err      error
}

// Error says what to do.
func (e *UnreachableError) Error() string {
	if e.Loopback {
		return fmt.Sprintf("CodeSage backend not reachable at %s; start it with `make start-backend`", e.URL)
	}
	return fmt.Sprintf("CodeSage backend not reachable at %s; check MCP_SERVER_URL and that the host is up", e.URL)
}

// Unwrap returns why the last attempt failed.
func (e *UnreachableError) Unwrap() error { return e.Err }

// TimeoutError says that the answer did not come in time.
type TimeoutError struct {
	After time.Duration
}

// Error says how long was waited.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("CodeSage backend did not answer within %g s.", e.After.Seconds())
}

// TransportError is any other failure between here and the server.
type TransportError struct {
	Type string
	Err  error
}

// Error names the failure.
func (e *TransportError) Error() string {
	return fmt.Sprintf("CodeSage backend request failed: %s: %s", e.Type, e.Err)
}

// Unwrap returns the failure.
func (e *TransportError) Unwrap() error { return e.Err }

// UnexpectedError says that an answer with a good status was not what the API
// answers.
type UnexpectedError struct {
	Err error
}

// Error says what to check.
func (e *UnexpectedError) Error() string {
	return "CodeSage backend returned an unexpected response; check MCP_SERVER_URL"
}

// Unwrap returns what could not be read.
func (e *UnexpectedError) Unwrap() error { return e.Err }

// StatusError is an answer whose status is no success.
type StatusError struct {
	Status    int
	Path      string
	Detail    string // the server's `detail`, as text or as JSON; else the status in words
	JSON      bool   // the body was a JSON object
	RequestID string
	Basic     bool // a proxy asks for HTTP basic authentication
}

// Error is the server's detail with what is needed to find it in the log.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s (%d)", e.Detail, e.Status)
	if e.Status >= 500 && e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Is reports whether target is the sentinel of the kind that the status means.
func (e *StatusError) Is(target error) bool {
	kinds := map[int]codesage.Kind{
		400: codesage.KindInvalid, 422: codesage.KindInvalid, 403: codesage.KindDenied, 401: codesage.KindDenied,
		404: codesage.KindNotFound, 409: codesage.KindConflict, 413: codesage.KindTooLarge,
		429: codesage.KindUnavailable, 503: codesage.KindUnavailable, 504: codesage.KindTimeout,
	}
	t, ok := target.(*codesage.Error)
	return ok && t.Message == "" && kinds[e.Status] == t.Kind && t.Kind != ""
}

// newStatusError reads an answer's detail and request id.
func newStatusError(res *http.Response, body []byte) *StatusError {
	e := &StatusError{
		Status: res.StatusCode, Path: res.Request.URL.Path,
		Detail: http.StatusText(res.StatusCode), RequestID: res.Header.Get("X-Request-ID"),
	}
	for _, challenge := range res.Header.Values("WWW-Authenticate") {
		scheme, _, _ := strings.Cut(strings.TrimSpace(challenge), " ")
		e.Basic = e.Basic || strings.EqualFold(scheme, "Basic")
	}
	var known struct {
		Detail    json.RawMessage `json:"detail"`
		RequestID string          `json:"request_id"`
	}
	if decodeObject(body, &known) != nil {
		return e
	}
	e.JSON = true
	if known.RequestID != "" {
		e.RequestID = known.RequestID
	}
	var text string
	switch {
	case len(known.Detail) == 0:
	case json.Unmarshal(known.Detail, &text) == nil && known.Detail[0] == '"':
		e.Detail = text
	default:
		var compact bytes.Buffer
		if json.Compact(&compact, known.Detail) == nil {
			e.Detail = compact.String()
		}
	}
	return e
}

// dialError marks an error of connecting.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// transportError words an error of sending or of reading.
func (c *Client) transportError(err error, timeout time.Duration) error {
	if errors.Is(err, errTimeout) {
		return &TimeoutError{After: timeout}
	}
	var wrapped *url.Error // its text repeats method and URL
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &TransportError{Type: typeName(err), Err: err}
}

// typeName is the name of an error's type without package and pointer.
func typeName(err error) string {
	t := reflect.TypeOf(err)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Name() {
	case "errorString", "wrapError", "joinError", "":
		return "TransportError"
	}
	return t.Name()
}
