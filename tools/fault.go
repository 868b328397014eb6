package tools

import (
	"errors"
	"fmt"
	"strings"

	"codesage"
)

// FaultText words the faults of a call in one line:
// "Invalid arguments for 'search_code': limit: Input should be …; …".
func FaultText(name string, faults []Fault) string {
	parts := make([]string, len(faults))
	for i, f := range faults {
		parts[i] = f.Text()
	}
	return fmt.Sprintf("Invalid arguments for '%s': %s", name, strings.Join(parts, "; "))
}

// Text is the fault in one line: "<field>: <reason>".
func (f Fault) Text() string {
	loc := make([]string, len(f.Loc))
	for i, l := range f.Loc {
		loc[i] = fmt.Sprint(l)
	}
	reason := strings.TrimPrefix(f.Msg, "Value error, ")
	if len(loc) == 0 {
		return reason
	}
	return strings.Join(loc, ".") + ": " + reason
}

// Answer translates the error of a tool's Call. When the caller can act on it,
// refused is true and message is the tool's answer. Otherwise the error is a
// fault of the server: its text is for the log only.
func Answer(err error) (message string, refused bool) {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure.Message, true
	}
	var known *codesage.Error
	if errors.As(err, &known) && known.Kind != codesage.KindInternal && known.Message != "" {
		return known.Message, true
	}
	return "", false
}
