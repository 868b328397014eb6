package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// message is one JSON-RPC message as it came. Everything but the method is kept
// raw.
type message struct {
	id     json.RawMessage // nil for a notification; "null" is an id
	method string
	params json.RawMessage
	reply  bool // it answers a request of ours; there are none, so it is ignored
}

// nullID answers messages whose id could not be read.
var nullID = json.RawMessage("null")

// parseMessage reads one message. The error carries the code to answer with,
// and the message what could be read of it, for the id.
func parseMessage(raw []byte) (message, *Error) {
	m := message{id: nullID}
	var fields map[string]json.RawMessage // a struct would take "ID" for "id"
	if err := json.Unmarshal(raw, &fields); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return m, Errorf(CodeParse, "Parse error: %s", syntax.Error())
		}
		return m, Errorf(CodeInvalidRequest, "Invalid request: a message must be a JSON object")
	}
	if fields == nil {
		return m, Errorf(CodeInvalidRequest, "Invalid request: a message must be a JSON object")
	}
	id, given := fields["id"]
	switch {
	case !given:
		m.id = nil
	case validID(id):
		m.id = bytes.TrimSpace(id)
	default:
		return m, Errorf(CodeInvalidRequest, "Invalid request: an id must be a string, a number or null")
	}
	var version string
	if json.Unmarshal(fields["jsonrpc"], &version) != nil || version != "2.0" {
		return m, Errorf(CodeInvalidRequest, "Invalid request: jsonrpc must be \"2.0\"")
	}
	m.params = fields["params"]
	method, named := fields["method"]
	if !named {
		_, result := fields["result"]
		_, failure := fields["error"]
		if m.reply = result || failure; m.reply {
			return m, nil
		}
		return m, Errorf(CodeInvalidRequest, "Invalid request: method is missing")
	}
	if len(method) == 0 || method[0] != '"' || json.Unmarshal(method, &m.method) != nil {
		return m, Errorf(CodeInvalidRequest, "Invalid request: method must be a string")
	}
	return m, nil
}

// validID reports whether an id is of a type that JSON-RPC allows.
func validID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9' || string(id) == "null")
}

// isBatch reports whether a text is a JSON array.
func isBatch(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '['
}

// MaxBatch is how many messages a batch may hold.
const MaxBatch = 100

// parseBatch splits a batch.
func parseBatch(raw []byte) ([]json.RawMessage, *Error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, Errorf(CodeParse, "Parse error: %s", err)
	}
	if len(items) == 0 {
		return nil, Errorf(CodeInvalidRequest, "Invalid request: the batch is empty")
	}
	if len(items) > MaxBatch {
		return nil, Errorf(CodeInvalidRequest, "Invalid request: a batch holds at most %d messages", MaxBatch)
	}
	return items, nil
}

// heavy reports whether a method reaches the backend, and so may take long.
func heavy(method string) bool { return method == "tools/call" || method == "resources/read" }

// Calls counts the messages of a body, single or batch, that reach the backend.
// A body that is no JSON has none.
func Calls(body []byte) int {
	items := []json.RawMessage{body}
	if isBatch(body) {
		items, _ = parseBatch(body)
	}
	n := 0
	for _, item := range items {
		if m, err := parseMessage(item); err == nil && m.id != nil && heavy(m.method) {
			n++
		}
	}
	return n
}

// call is what a tools/call or resources/read asks.
type call struct {
	name, uri string
	arguments json.RawMessage
	meta      json.RawMessage
	token     json.RawMessage // progress token; nil = none was asked for

	err *Error // answers in place of what mcp-go makes of it
}

// parseCall reads the params of a call.
func parseCall(m message) (*call, *Error) {
	if len(m.params) == 0 || string(m.params) == "null" {
		return nil, Errorf(CodeInvalidParams, "Missing params")
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal(m.params, &params); err != nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: params must be an object")
	}
	c := &call{arguments: params["arguments"], meta: params["_meta"]}
	key, field := "name", &c.name
	if m.method == "resources/read" {
		key, field = "uri", &c.uri
	}
	if _, given := params[key]; !given {
		return nil, Errorf(CodeInvalidParams, "Invalid params: missing field `%s`", key)
	}
	if json.Unmarshal(params[key], field) != nil || params[key][0] != '"' {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s must be a string", key)
	}
	if len(c.arguments) == 0 || string(c.arguments) == "null" {
		c.arguments = json.RawMessage("{}")
	}
	if c.arguments[0] != '{' {
		return nil, Errorf(CodeInvalidParams, "Invalid params: arguments must be an object")
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(c.meta, &meta) == nil && validID(meta["progressToken"]) && string(meta["progressToken"]) != "null" {
		c.token = meta["progressToken"]
	}
	return c, nil
}

// response is an answer. Exactly one of Result and Error is set.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// encodeResponse returns an answer as one line without a line feed.
func encodeResponse(id json.RawMessage, result any, failure *Error) json.RawMessage {
	if id == nil {
		id = nullID
	}
	data, err := encode(response{JSONRPC: "2.0", ID: id, Result: result, Error: failure})
	if err != nil {
		data, _ = encode(response{JSONRPC: "2.0", ID: id, Error: Errorf(CodeInternal, "Internal error")})
	}
	return data
}

// encode returns v as compact JSON without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// idKey makes ids comparable: the id without white space.
func idKey(id json.RawMessage) string { return strings.TrimSpace(string(id)) }
