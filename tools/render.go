package tools

import (
	"bytes"
	"encoding/json"
)

// Render returns a result as the text block that a client reads: JSON with two
// spaces of indent. The order of keys in a json.RawMessage is kept. A value
// that is no JSON is printed as null.
func Render(result any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, encode(result), "", "  "); err != nil {
		return "null"
	}
	return b.String()
}
