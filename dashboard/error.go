package dashboard

import "net/http"

// Error is the page of a request that failed.
type Error struct {
	Status  int
	Detail  string // in the API's words
	Request string // the id of the request, when the log has more to say
}

func (Error) file() string    { return "error.html" }
func (p Error) title() string { return p.Heading() }

// Heading says what sort of failure it is.
func (p Error) Heading() string {
	switch p.Status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "Not allowed"
	case http.StatusTooManyRequests:
		return "Too many requests"
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "Not available right now"
	}
	if p.Status >= http.StatusInternalServerError {
		return "Something went wrong"
	}
	return "That did not work"
}
