package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Parse checks raw arguments against the schema, converting as pydantic 2 does
// in lax mode. It returns either arguments or every fault of the call: those of
// fields in schema order, then unknown arguments in the order in which they
// were sent. Missing arguments and null count as {}; of a repeated name the
// last value counts.
func (s Schema) Parse(raw json.RawMessage) (Arguments, []Fault) {
	raw = bytes.ToValidUTF8(bytes.TrimSpace(raw), []byte("\uFFFD"))
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if !json.Valid(raw) {
		return nil, []Fault{{"json_invalid", []any{"arguments"}, "JSON decode error", json.RawMessage("{}")}}
	}
	if raw[0] != '{' {
		return nil, []Fault{{"dict_type", []any{"arguments"}, "Input should be a valid dictionary", raw}}
	}
	names, values := members(raw)
	args := make(Arguments, len(s.Fields))
	var faults []Fault
	for _, f := range s.Fields {
		value, given := values[f.Name]
		delete(values, f.Name)
		if !given && f.Required {
			faults = append(faults, Fault{"missing", []any{f.Name}, "Field required", raw})
			continue
		}
		v, fs := f.parse(value)
		faults = append(faults, fs...)
		if v != nil {
			args[f.Name] = v
		}
	}
	for _, name := range s.Ignored {
		delete(values, name)
	}
	for _, name := range names {
		if value, unknown := values[name]; unknown {
			faults = append(faults, Fault{"extra_forbidden", []any{name}, "Extra inputs are not permitted", value})
		}
	}
	if faults != nil {
		return nil, faults
	}
	return args, nil
}

// members returns the names of a valid JSON object in the order of their first
// appearance, and the raw value that each has in the end.
func members(raw json.RawMessage) (names []string, values map[string]json.RawMessage) {
	values = map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the brace
	for d.More() {
		key, _ := d.Token()
		name, isName := key.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil || !isName {
			break // not in a valid object
		}
		if _, again := values[name]; !again {
			names = append(names, name)
		}
		values[name] = value
	}
	return names, values
}

// parse converts one value; nil means that it was not given. An absent value or
// a null where that is allowed gives the default.
func (f Field) parse(raw json.RawMessage) (any, []Fault) {
	if raw == nil || f.Nullable && string(raw) == "null" {
		return f.Default, nil
	}
	if f.Advisory {
		f = Field{Name: f.Name, Type: f.Type, Required: f.Required, Nullable: f.Nullable, Default: f.Default}
	}
	switch f.Type {
	case Integer:
		return f.parseInteger(raw)
	case Boolean:
		return f.parseBoolean(raw)
	case StringList:
		return f.parseList(raw)
	}
	return f.parseString(raw)
}

func (f Field) fault(raw json.RawMessage, kind, format string, args ...any) []Fault {
	return []Fault{{kind, []any{f.Name}, fmt.Sprintf(format, args...), raw}}
}

func (f Field) parseString(raw json.RawMessage) (any, []Fault) {
	text, isText := unquote(raw)
	if isText && text == "" && f.Nullable && !f.Required {
		return f.Default, nil
	}
	switch n := utf8.RuneCountInString(text); {
	case f.Enum != nil:
		return f.parseEnum(raw, text, isText)
	case !isText:
		return nil, f.fault(raw, "string_type", "Input should be a valid string")
	case n < f.MinLength:
		return nil, f.fault(raw, "string_too_short", "String should have at least %s", characters(f.MinLength))
	case f.MaxLength > 0 && n > f.MaxLength:
		return nil, f.fault(raw, "string_too_long", "String should have at most %s", characters(f.MaxLength))
	case f.Pattern != "" && !regexp.MustCompile(f.Pattern).MatchString(text):
		return nil, f.fault(raw, "string_pattern_mismatch", "String should match pattern '%s'", f.Pattern)
	case f.MaxBytes > 0 && len(text) > f.MaxBytes:
		return nil, f.fault(raw, "value_error", "Value error, %s is too long; the limit is %d bytes", f.Name, f.MaxBytes)
	}
	return text, nil
}

func (f Field) parseEnum(raw json.RawMessage, text string, isText bool) (any, []Fault) {
	quoted := make([]string, len(f.Enum))
	for i, e := range f.Enum {
		if isText && text == e {
			return text, nil
		}
		quoted[i] = "'" + e + "'"
	}
	expected := quoted[len(quoted)-1]
	if head := quoted[:len(quoted)-1]; len(head) > 0 {
		expected = strings.Join(head, ", ") + " or " + expected
	}
	return nil, f.fault(raw, "literal_error", "Input should be %s", expected)
}

// parseList takes a list of strings, or the JSON text of one.
func (f Field) parseList(raw json.RawMessage) (any, []Fault) {
	items, ok := list(raw)
	if text, isText := unquote(raw); isText {
		items, ok = list(json.RawMessage(text))
	}
	if !ok {
		return nil, f.fault(raw, "list_type", "Input should be a valid list")
	}
	texts := make([]string, 0, len(items))
	var faults []Fault
	for i, item := range items {
		text, isText := unquote(item)
		if !isText {
			faults = append(faults, Fault{"string_type", []any{f.Name, i}, "Input should be a valid string", item})
			continue
		}
		texts = append(texts, text)
	}
	if faults != nil {
		return nil, faults
	}
	return texts, nil
}

// list returns the items of a JSON array; null is none.
func list(raw json.RawMessage) (items []json.RawMessage, ok bool) {
	err := json.Unmarshal(raw, &items)
	return items, err == nil && items != nil
}

// unquote returns the text of a JSON string.
func unquote(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}
