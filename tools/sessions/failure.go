package sessions

import (
	"errors"
	"fmt"
	"strings"

	"codesage/tools"
)

// The JSON-RPC codes of refusals. noSession is used for nothing else, so that
// it always means: call list_sessions.
const (
	invalidRequest = -32600
	invalidParams  = -32602
	internal       = -32603
	noSession      = -32001
	searchFailed   = -32004
)

// failf words a refusal. Only the format breaks lines: texts among args may come
// from others.
func failf(code int, format string, args ...any) error {
	for i, a := range args {
		if text, isText := a.(string); isText {
			args[i] = tools.OneLine(text)
		}
	}
	return &tools.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// plain returns a refusal whose message holds nothing that a terminal would take
// for a command. A fault of the server stays as it is: only the log has it.
func plain(err error) error {
	message, refused := tools.Answer(err)
	if !refused {
		return err
	}
	lines := strings.Split(message, "\n")
	for i := range lines {
		lines[i] = tools.OneLine(lines[i])
	}
	clean := strings.Join(lines, "\n")
	if clean == message {
		return err
	}
	failure := tools.Failure{Code: internal}
	if known := (*tools.Failure)(nil); errors.As(err, &known) {
		failure = *known
	}
	failure.Message = clean
	return &failure
}

// badValue words a value for which the contract has no words of its own.
func badValue(field, format string, args ...any) error {
	return failf(invalidParams, "Invalid params: %s: %s", field, fmt.Sprintf(format, args...))
}

// atLeast refuses a number that is too small.
func atLeast(field string, n, least int) error {
	if n < least {
		return badValue(field, "Input should be greater than or equal to %d", least)
	}
	return nil
}
