package tools

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns the schema as clients read it, in the shape and with the order
// of keys that pydantic gives its models.
func (s Schema) JSON() json.RawMessage {
	var required []string
	properties := make(ordered, 0, len(s.Fields))
	for _, f := range s.Fields {
		if f.Required {
			required = append(required, f.Name)
		}
		properties = append(properties, member{f.Name, f.schema()})
	}
	schema := map[string]any{
		"additionalProperties": false,
		"properties":           properties,
		"title":                s.Title,
		"type":                 "object",
	}
	if required != nil {
		schema["required"] = required
	}
	return encode(schema)
}

// schema returns the JSON Schema of one property. A map is enough: its keys are
// written in alphabetical order, as pydantic's are.
func (f Field) schema() map[string]any {
	value := f.valueSchema()
	property := value
	if f.Nullable {
		property = map[string]any{"anyOf": []any{value, map[string]any{"type": "null"}}}
	}
	property["title"] = title(f.Name)
	if f.Description != "" {
		property["description"] = f.Description
	}
	if !f.Required {
		property["default"] = f.Default
	}
	return property
}

// valueSchema returns the part of a property's schema that says what values it
// takes.
func (f Field) valueSchema() map[string]any {
	value := map[string]any{"type": f.Type}
	limits := map[string]int{"minLength": f.MinLength, "maxLength": f.MaxLength}
	for name, n := range limits {
		if n > 0 {
			value[name] = n
		}
	}
	if f.Min != nil {
		value["minimum"] = *f.Min
	}
	if f.Max != nil {
		value["maximum"] = *f.Max
	}
	if f.Pattern != "" {
		value["pattern"] = f.Pattern
	}
	if f.Type == StringList {
		value["items"] = map[string]any{"type": String}
	}
	switch len(f.Enum) {
	case 0:
	case 1:
		value["const"] = f.Enum[0]
	default:
		value["enum"] = f.Enum
	}
	return value
}

// title makes "Start Line" of "start_line".
func title(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// ordered is a JSON object that keeps the order of its members.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.name))
		b.WriteByte(':')
		b.Write(encode(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode returns v as compact JSON without HTML escapes. It is for values that
// this program made, which always encode; anything else becomes null.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
