package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"codesage/tools"
)

// The bounds of a request's body.
const (
	maxBody    = 1 << 20 // bytes of a JSON body
	maxMCPBody = 4 << 20 // bytes of a body of /mcp
	maxDepth   = 64      // nested arrays and objects
)

const bodyTime = 30 * time.Second

// timeBody gives the body of a request a while to arrive, also when the request
// is refused: the server reads what is left of it before it answers.
func (s *server) timeBody(c *gin.Context) {
	if c.Request.ContentLength == 0 {
		return
	}
	connection := http.NewResponseController(c.Writer)
	if connection.SetReadDeadline(time.Now().Add(s.BodyTime)) == nil {
		c.Request.Body = timedBody{c.Request.Body, connection}
	}
}

// timedBody takes the deadline off the connection when the body has arrived: the
// answer may be a stream.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

// Read implements io.Reader.
func (b timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// readBody reads a JSON object from the body. When it can't, it answers and
// returns false: 413 for a large one, 422 for what is no object.
func (s *server) readBody(c *gin.Context) (json.RawMessage, bool) {
	raw, ok := s.readAll(c, maxBody)
	if !ok {
		return nil, false
	}
	trimmed := bytes.TrimSpace(raw)
	var value json.RawMessage
	err := json.Unmarshal(raw, &value)
	var syntax *json.SyntaxError
	switch {
	case len(trimmed) == 0:
		unprocessable(c, fault("missing", "Field required", nil, "body"))
	case errors.As(err, &syntax):
		at := utf8.RuneCount(raw[:min(max(int(syntax.Offset)-1, 0), len(raw))])
		unprocessable(c, fault("json_invalid", "JSON decode error", struct{}{}, "body", at))
	case err != nil || depth(raw) > maxDepth:
		unprocessable(c, fault("json_invalid", "JSON decode error", struct{}{}, "body", 0))
	case trimmed[0] != '{':
		unprocessable(c, fault("model_attributes_type", "Input should be a valid dictionary or object to extract fields from", value, "body"))
	default:
		return trimmed, true
	}
	return nil, false
}

// readAll reads the body up to a limit and answers 413 beyond it.
func (s *server) readAll(c *gin.Context, limit int64) ([]byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		s.refuse(c, http.StatusRequestEntityTooLarge, "The body is too large; the limit is "+strconv.FormatInt(limit, 10)+" bytes")
	case err != nil:
		s.refuse(c, http.StatusBadRequest, "The body could not be read")
	default:
		return raw, true
	}
	return nil, false
}

// depth returns how deeply arrays and objects are nested in valid JSON.
func depth(raw []byte) int {
	deepest, now, inText := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch ch := raw[i]; {
		case inText && ch == '\\':
			i++
		case ch == '"':
			inText = !inText
		case inText:
		case ch == '{' || ch == '[':
			now++
			deepest = max(deepest, now)
		case ch == '}' || ch == ']':
			now--
		}
	}
	return deepest
}

// query checks query arguments against a schema, as tools check theirs. Names
// that the schema lacks are ignored. When there are faults it answers 422.
func query(c *gin.Context, schema tools.Schema) (tools.Arguments, bool) {
	given := map[string]string{}
	for _, f := range schema.Fields {
		if text, ok := c.GetQuery(f.Name); ok {
			given[f.Name] = text
		}
	}
	raw, err := json.Marshal(given)
	if err != nil {
		raw = json.RawMessage("{}")
	}
	args, faults := schema.Parse(raw)
	if faults == nil {
		return args, true
	}
	for i := range faults {
		if faults[i].Type == "missing" {
			faults[i].Input = json.RawMessage("null")
		}
	}
	unprocessable(c, within("query", faults)...)
	return nil, false
}
