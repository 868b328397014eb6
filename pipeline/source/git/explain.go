package git

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"codesage"
)

// errTime is the cause with which the time of an operation ends.
var errTime = errors.New("the time limit has passed")

// operation is what was going on when an error came, for its message.
type operation struct {
	clone bool // else a question that takes seconds
}

// explain turns an error into one with a kind and a message for the person who
// asked. ctx is the caller's own context: when that has ended, its error comes
// back as it is.
func (s *Source) explain(ctx context.Context, r Remote, op operation, err error) error {
	var ready *codesage.Error
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", r.Name, ctx.Err())
	case errors.As(err, &ready):
		return ready
	}
	kind, message := s.words(r, op, err)
	return &codesage.Error{Kind: kind, Message: message, Err: s.scrub(err)}
}

// words chooses kind and message of an error.
func (s *Source) words(r Remote, op operation, err error) (codesage.Kind, string) {
	switch {
	case errors.Is(err, errPrivate):
		return codesage.KindInvalid, fmt.Sprintf("Can't index %s: %s resolves to a private or loopback address.", r.Name, r.Host)
	case errors.Is(err, errUnresolved) && !r.GitHub():
		return codesage.KindInvalid, fmt.Sprintf("Can't index %s: %s could not be resolved.", r.Name, r.Host)
	case errors.Is(err, ErrRedirect):
		return codesage.KindInvalid, fmt.Sprintf("Can't index %s: %s redirects to another host.", r.Name, r.Host)
	case errors.Is(err, errSHA256):
		return codesage.KindInvalid, fmt.Sprintf("Can't index %s: its objects are named by SHA-256, which is not supported.", r.Name)
	case errors.Is(err, errNoBranch):
		return codesage.KindInvalid, fmt.Sprintf("Branch '%s' does not exist in %s.", r.Branch, r.Name)
	case isEmpty(err):
		return codesage.KindInvalid, r.Name + " is empty; there is nothing to index."
	case missing(err):
		return codesage.KindNotFound, notFound(r)
	}
	if kind, message := s.limitWords(r, op, err); message != "" {
		return kind, message
	}
	return codesage.KindUnavailable, unreachable(r, err)
}

// limitWords are the words for a limit that was passed; empty for other errors.
func (s *Source) limitWords(r Remote, op operation, err error) (codesage.Kind, string) {
	switch {
	case errors.Is(err, errObjectSize):
		return codesage.KindTooLarge, fmt.Sprintf("%s holds a file of more than %d MB.", r.Name, MaxObjectBytes>>20)
	case errors.Is(err, errObjectCount):
		return codesage.KindTooLarge, fmt.Sprintf("%s has more than %d objects.", r.Name, MaxObjects)
	case errors.Is(err, errUnpacked), op.clone && errors.Is(err, errTooManyBytes):
		return codesage.KindTooLarge, fmt.Sprintf("%s is larger than %s (CLONE_MAX_BYTES).", r.Name, megabytes(s.cfg.CloneMaxBytes))
	case errors.Is(err, errTooManyBytes):
		return codesage.KindTooLarge, fmt.Sprintf("Can't index %s: %s sent a longer list of branches than allowed.", r.Name, r.Host)
	case errors.Is(err, errIdle):
		return codesage.KindTimeout, fmt.Sprintf("%s stopped sending; try again.", r.display())
	case errors.Is(err, errTime) && op.clone:
		return codesage.KindTimeout, fmt.Sprintf("Fetching %s took longer than %s (CLONE_TIMEOUT).", r.Name, s.cfg.CloneTimeout)
	case isTimeout(err):
		return codesage.KindTimeout, r.display() + " did not respond in time; try again."
	case errors.Is(err, errMalformed), errors.Is(err, errIncomplete):
		return codesage.KindUnavailable, fmt.Sprintf("%s sent a broken copy of %s; try again.", r.display(), r.Name)
	case errors.Is(err, errHeap):
		return codesage.KindInternal, fmt.Sprintf("The files of %s could not be stored on the server.", r.Name)
	}
	return "", ""
}

// unreachable says that a host could not be reached, and why when trying again
// does not help.
func unreachable(r Remote, err error) string {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fmt.Sprintf("Could not reach %s: its certificate is not valid for that name, or not trusted.", r.display())
	}
	return fmt.Sprintf("Could not reach %s; try again.", r.display())
}

// notFound says that there is no such repository, or none for us.
func notFound(r Remote) string {
	if r.GitHub() {
		return fmt.Sprintf("GitHub repository %s was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access.", r.Name)
	}
	return fmt.Sprintf("%s was not found or is private; only public repositories are supported on %s.", r.Name, r.Host)
}

// isTimeout reports whether time ran out, by our own clock or a layer's below.
func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, errTime) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &network) && network.Timeout()
}

// megabytes prints a limit.
func megabytes(n int64) string {
	if n >= 1_000_000_000 && n%1_000_000_000 == 0 {
		return fmt.Sprintf("%d GB", n/1_000_000_000)
	}
	if n >= 1_000_000 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d bytes", n)
}

// minutes says how long a limit lasts.
func minutes(d time.Duration) string {
	n := max(1, int((d+time.Minute-1)/time.Minute))
	if n == 1 {
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", n)
}

// maxCause bounds the part of a cause that comes from the host.
const maxCause = 500

// scrub returns an error fit for the log. A host may send back whatever it
// got: an error with the token in it keeps its text without the token, and one
// that is long keeps its start.
func (s *Source) scrub(err error) error {
	text := err.Error()
	clean := text
	if s.token != "" {
		for _, secret := range []string{basicAuth(s.token), strings.TrimPrefix(basicAuth(s.token), "Basic "), s.token} {
			clean = strings.ReplaceAll(clean, secret, "[token]")
		}
	}
	if len(clean) > maxCause {
		clean = strings.ToValidUTF8(clean[:maxCause], "") + "…"
	}
	if clean == text {
		return err
	}
	return errors.Join(errors.New(clean), sentinel(err))
}

// sentinel returns the cause by which callers of this package can tell a
// scrubbed error.
func sentinel(err error) error {
	if errors.Is(err, ErrRedirect) {
		return ErrRedirect
	}
	return nil
}
