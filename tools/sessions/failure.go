package sessions

import (
	"fmt"

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

func failf(code int, format string, args ...any) error {
	return &tools.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
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
