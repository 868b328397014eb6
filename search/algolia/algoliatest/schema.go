package algoliatest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// openapi holds the schemas of the request bodies that the fake takes, from
// Algolia's OpenAPI description of its search API, with references resolved:
// "query", "browse", "batch" and "settings".
//
//go:embed openapi.json
var openapi []byte

// A schema is the part of JSON schema that the description uses.
type schema struct {
	Type                 string             `json:"type"`
	Enum                 []string           `json:"enum"`
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
	Items                *schema            `json:"items"`
	OneOf                []schema           `json:"oneOf"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	AdditionalProperties *bool              `json:"additionalProperties"`
}

func schemas() (map[string]*schema, error) {
	var m map[string]*schema
	err := json.Unmarshal(openapi, &m)
	return m, err
}

// A mismatch says where a value breaks a schema, and how.
type mismatch struct{ at, text string }

func (m *mismatch) Error() string { return m.at + ": " + m.text }

func mismatchf(at, format string, args ...any) *mismatch {
	return &mismatch{at, fmt.Sprintf(format, args...)}
}

// check returns where a decoded value breaks the schema, or nil.
func (s *schema) check(at string, v any) *mismatch {
	if len(s.OneOf) > 0 {
		return s.checkOneOf(at, v)
	}
	switch s.Type {
	case "object":
		return s.checkObject(at, v)
	case "array":
		return s.checkArray(at, v)
	case "integer", "number":
		return s.checkNumber(at, v)
	case "string":
		text, ok := v.(string)
		if !ok {
			return mismatchf(at, "%T is not a string", v)
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
			return mismatchf(at, "%q is none of %q", text, s.Enum)
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return mismatchf(at, "%T is not a boolean", v)
		}
	case "null":
		if v != nil {
			return mismatchf(at, "%T is not null", v)
		}
	}
	return nil
}

// checkOneOf returns the fault that was found deepest, which is that of the
// variant that was meant.
func (s *schema) checkOneOf(at string, v any) *mismatch {
	var deepest *mismatch
	for i := range s.OneOf {
		err := s.OneOf[i].check(at, v)
		if err == nil {
			return nil
		}
		if deepest == nil || len(err.at) > len(deepest.at) {
			deepest = err
		}
	}
	return deepest
}

func (s *schema) checkObject(at string, v any) *mismatch {
	m, ok := v.(map[string]any)
	if !ok {
		return mismatchf(at, "%T is not an object", v)
	}
	for _, name := range s.Required {
		if _, ok := m[name]; !ok {
			return mismatchf(at, "%s is missing", name)
		}
	}
	for name, value := range m {
		p, ok := s.Properties[name]
		if !ok && s.AdditionalProperties != nil && !*s.AdditionalProperties {
			return mismatchf(at, "Unknown parameter: %s", name)
		}
		if ok {
			if err := p.check(at+"."+name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *schema) checkArray(at string, v any) *mismatch {
	list, ok := v.([]any)
	if !ok {
		return mismatchf(at, "%T is not an array", v)
	}
	for i, item := range list {
		if s.Items == nil {
			break
		}
		if err := s.Items.check(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) checkNumber(at string, v any) *mismatch {
	n, ok := v.(float64)
	switch {
	case !ok:
		return mismatchf(at, "%T is not a number", v)
	case s.Type == "integer" && n != math.Trunc(n):
		return mismatchf(at, "%v is not an integer", n)
	case s.Minimum != nil && n < *s.Minimum, s.Maximum != nil && n > *s.Maximum:
		return mismatchf(at, "%v is out of range", n)
	}
	return nil
}
