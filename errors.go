package codesage

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what sort of failure an error is. It is set where the failure is
// known and translated once at each edge: HTTP status, MCP answer, retry.
type Kind string

// The kinds of failure. An error without one counts as KindInternal: its text
// is for the log and is never shown to a caller.
const (
	KindInvalid     Kind = "invalid"     // the request can't be right as it stands
	KindNotFound    Kind = "not_found"   // what was named does not exist
	KindExists      Kind = "exists"      // what was to be created is there already
	KindDenied      Kind = "denied"      // it exists, and is not for this caller
	KindTooLarge    Kind = "too_large"   // a limit was passed
	KindUnavailable Kind = "unavailable" // a part is away; the same request may succeed later
	KindConflict    Kind = "conflict"    // another run or writer got there first
	KindTimeout     Kind = "timeout"     // a peer did not answer in time
	KindInternal    Kind = "internal"    // a fault of this program
)

// One sentinel for each kind, for errors.Is.
var (
	ErrInvalid     = &Error{Kind: KindInvalid}
	ErrNotFound    = &Error{Kind: KindNotFound}
	ErrExists      = &Error{Kind: KindExists}
	ErrDenied      = &Error{Kind: KindDenied}
	ErrTooLarge    = &Error{Kind: KindTooLarge}
	ErrUnavailable = &Error{Kind: KindUnavailable}
	ErrConflict    = &Error{Kind: KindConflict}
	ErrTimeout     = &Error{Kind: KindTimeout}
)

// Error is a failure with a kind and a message written for the person who
// asked: what was attempted, why it failed, what to do. Err, when set, is the
// cause; it goes to the log and is not part of the message.
type Error struct {
	Kind    Kind
	Message string
	Err     error
}

// Errorf returns an Error of a kind. A %w operand becomes its cause and its
// text becomes part of the message.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Error returns the message, or the kind when there is none.
func (e *Error) Error() string {
	if e.Message == "" {
		return string(e.Kind)
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the sentinel of the error's kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Kind == e.Kind
}

// KindOf returns the kind of the outermost Error in err's chain, or
// KindInternal when there is none. KindOf(nil) is the empty kind.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}

// Detail is the text of an error for the log: its message, and the causes that
// the message leaves out because they are not for callers.
func Detail(err error) string {
	text := err.Error()
	var e *Error
	for errors.As(err, &e) && e.Err != nil {
		if cause := e.Err.Error(); !strings.Contains(text, cause) {
			text += ": " + cause
		}
		err = e.Err
	}
	return text
}
