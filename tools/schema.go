package tools

// Type is the JSON type of an argument.
type Type string

// The types that arguments have.
const (
	String     Type = "string"
	Integer    Type = "integer"
	Boolean    Type = "boolean"
	StringList Type = "array" // of strings; also accepted as JSON text
)

// Schema is the model of a tool's arguments. Fields are checked, and their
// faults listed, in this order; unknown arguments come last.
type Schema struct {
	Title   string // "SearchCodeArgs"
	Fields  []Field
	Ignored []string // names that are taken and not looked at; clients don't see them
}

// Field is one argument. The zero value of a limit means none.
type Field struct {
	Name        string
	Type        Type
	Description string
	Required    bool
	Nullable    bool // null and, for optional strings, "" mean "not given"
	Default     any  // string, int, bool, []string or nil
	MinLength   int  // characters
	MaxLength   int  // characters
	MaxBytes    int  // bytes of UTF-8; the fault is the query's
	Min, Max    *int
	Enum        []string
	Pattern     string // RE2 syntax, searched in the text; it must compile
	Advisory    bool   // the limits are for clients to see; the tool checks them in its own words
}

// Arguments are checked arguments by name: string, int, bool or []string. A
// name that was not given and has no default is absent.
type Arguments map[string]any

// String returns a string argument, or "" when it was not given.
func (a Arguments) String(name string) string { s, _ := a[name].(string); return s }

// Int returns an integer argument; ok is false when it was not given.
func (a Arguments) Int(name string) (n int, ok bool) { n, ok = a[name].(int); return n, ok }

// Bool returns a boolean argument, or false when it was not given.
func (a Arguments) Bool(name string) bool { b, _ := a[name].(bool); return b }

// Strings returns a list argument, or nil when it was not given.
func (a Arguments) Strings(name string) []string { l, _ := a[name].([]string); return l }

// Fault is one fault of a call's arguments, as the 422 body lists it. Input is
// the offending value as it was sent; for a missing argument it is all the
// arguments.
type Fault struct {
	Type  string `json:"type"`
	Loc   []any  `json:"loc"`
	Msg   string `json:"msg"`
	Input any    `json:"input"` // Parse gives a json.RawMessage
}

// Limit returns a pointer to n, for Field.Min and Field.Max.
func Limit(n int) *int { return &n }
