package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/tools"
	"codesage/trace"
)

// statusOf translates a kind of failure into an HTTP status. It is the only
// place that does.
func statusOf(kind codesage.Kind) int {
	switch kind {
	case codesage.KindInvalid:
		return http.StatusBadRequest
	case codesage.KindNotFound:
		return http.StatusNotFound
	case codesage.KindExists, codesage.KindConflict:
		return http.StatusConflict
	case codesage.KindDenied:
		return http.StatusForbidden
	case codesage.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case codesage.KindUnavailable:
		return http.StatusServiceUnavailable
	case codesage.KindTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// statusGone is counted when the client went away before its answer, as nginx
// counts it. Nobody sees it.
const statusGone = 499

// problem is the body of every error that is not a list of faults.
type problem struct {
	Detail    string `json:"detail"`
	RequestID string `json:"request_id,omitempty"`
}

// fail answers with an error.
func (s *server) fail(c *gin.Context, err error) {
	status, detail := s.translate(c, err)
	if status == statusGone {
		c.AbortWithStatus(statusGone)
		return
	}
	s.refuse(c, status, detail)
}

// inTime gives the error of a request whose time is over its kind and its words,
// and logs what was late. Other errors pass. Every door that lets a part's error
// out asks it.
func (s *server) inTime(ctx context.Context, err error) error {
	var known *codesage.Error
	if errors.As(err, &known) || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	trace.Log(ctx, s.Log).Warn("no answer in time", "err", err)
	return codesage.Errorf(codesage.KindUnavailable, "The server did not answer in time; try again")
}

// translate says how an error is answered. The text of one without a kind is
// logged and not shown.
func (s *server) translate(c *gin.Context, err error) (status int, detail string) {
	var known *codesage.Error
	errors.As(s.inTime(c.Request.Context(), err), &known)
	if errors.Is(c.Request.Context().Err(), context.Canceled) {
		return statusGone, ""
	}
	if known == nil || known.Kind == codesage.KindInternal || known.Message == "" {
		s.Log.Error("request failed", "request", requestID(c), "path", c.FullPath(), "err", err)
		return statusOf(codesage.KindOf(err)), ""
	}
	if cause := errors.Unwrap(known); cause != nil {
		s.Log.Info("request refused", "request", requestID(c), "path", c.FullPath(), "kind", known.Kind, "err", cause)
	}
	return statusOf(known.Kind), known.Message
}

// problemOf is the body of an answer with a status and a detail; an empty detail
// says what the status does.
func problemOf(c *gin.Context, status int, detail string) problem {
	p := problem{Detail: detail}
	if status >= http.StatusInternalServerError {
		p.RequestID = requestID(c)
	}
	if detail == "" {
		p.Detail = http.StatusText(status)
	}
	if status == http.StatusInternalServerError {
		p.Detail = "Internal server error"
	}
	return p
}

// refuse ends a request with a status and a detail, which may be empty.
func (s *server) refuse(c *gin.Context, status int, detail string) {
	p := problemOf(c, status, detail)
	if wantsPage(c.Request) {
		s.refusePage(c, status, p)
		return
	}
	c.Abort()
	answer(c, status, p)
}

// unprocessable answers 422 with faults.
func unprocessable(c *gin.Context, faults ...tools.Fault) {
	c.Abort()
	answer(c, http.StatusUnprocessableEntity, gin.H{"detail": faults})
}

// answer writes JSON without HTML escapes.
func answer(c *gin.Context, status int, body any) { c.PureJSON(status, body) }

// fault makes a fault at a place in the request. input is any JSON value.
func fault(kind, msg string, input any, loc ...any) tools.Fault {
	return tools.Fault{Type: kind, Loc: loc, Msg: msg, Input: mustJSON(input)}
}

// within puts a place before the places of faults: "body", "query" or "path".
func within(place string, faults []tools.Fault) []tools.Fault {
	for i := range faults {
		faults[i].Loc = append([]any{place}, faults[i].Loc...)
	}
	return faults
}

func (s *server) notFound(c *gin.Context) {
	s.refuse(c, http.StatusNotFound, "Not Found")
}

func (s *server) wrongMethod(c *gin.Context) {
	s.refuse(c, http.StatusMethodNotAllowed, "Method Not Allowed")
}
