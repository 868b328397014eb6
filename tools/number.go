package tools

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxDigits is how many digits an integer may have.
const maxDigits = 4300

// parseInteger takes a JSON number without a fraction, the text of one, or a
// boolean. An integer beyond Go's counts as the nearest one that fits.
func (f Field) parseInteger(raw json.RawMessage) (any, []Fault) {
	n, kind := integer(raw)
	switch {
	case kind == "int_type":
		return nil, f.fault(raw, kind, "Input should be a valid integer")
	case kind == "int_parsing":
		return nil, f.fault(raw, kind, "Input should be a valid integer, unable to parse string as an integer")
	case kind == "int_parsing_size":
		return nil, f.fault(raw, kind, "Unable to parse input string as an integer, exceeded maximum size")
	case kind == "int_from_float":
		return nil, f.fault(raw, kind, "Input should be a valid integer, got a number with a fractional part")
	case kind == "finite_number":
		return nil, f.fault(raw, kind, "Input should be a finite number")
	case f.Max != nil && n > *f.Max:
		return nil, f.fault(raw, "less_than_equal", "Input should be less than or equal to %d", *f.Max)
	case f.Min != nil && n < *f.Min:
		return nil, f.fault(raw, "greater_than_equal", "Input should be greater than or equal to %d", *f.Min)
	}
	return n, nil
}

// integer converts a raw value; fault is the type of what is wrong with it.
func integer(raw json.RawMessage) (n int, fault string) {
	switch c := raw[0]; {
	case c == 't':
		return 1, ""
	case c == 'f':
		return 0, ""
	case c == '"':
		text, _ := unquote(raw)
		return integerText(text)
	case c != '-' && (c < '0' || c > '9'):
		return 0, "int_type"
	case strings.ContainsAny(string(raw), ".eE"):
		return integerFloat(raw)
	}
	return integerText(string(raw))
}

// integerFloat converts a number written with a point or an exponent.
func integerFloat(raw json.RawMessage) (n int, fault string) {
	v, _ := strconv.ParseFloat(string(raw), 64) // its one error is a range, and then v is infinite
	switch {
	case math.IsInf(v, 0):
		return 0, "finite_number"
	case v != math.Trunc(v):
		return 0, "int_from_float"
	case v <= math.MinInt64 || v >= math.MaxInt64:
		return 0, "int_parsing_size"
	}
	return int(v), ""
}

// integerText converts text: white space around it, a sign, digits with single
// underscores between them, and a fraction of zeros are allowed.
func integerText(text string) (n int, fault string) {
	text = strings.TrimSpace(text)
	digits, fraction, hasFraction := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	signs := len(text) - len(strings.TrimLeft(text, "+-"))
	if signs > 1 || hasFraction && (fraction == "" || strings.Trim(fraction, "0") != "") {
		return 0, "int_parsing"
	}
	for _, group := range strings.Split(digits, "_") {
		if group == "" || strings.Trim(group, "0123456789") != "" {
			return 0, "int_parsing"
		}
	}
	digits = strings.TrimLeft(strings.ReplaceAll(digits, "_", ""), "0")
	if len(digits) > maxDigits {
		return 0, "int_parsing_size"
	}
	if digits == "" {
		return 0, ""
	}
	if text[0] == '-' {
		digits = "-" + digits
	}
	n, _ = strconv.Atoi(digits) // its one error is a range, and then n is the nearest integer
	return n, ""
}

// booleans are the texts that stand for a boolean, in lower case.
var booleans = map[string]bool{
	"true": true, "yes": true, "on": true, "t": true, "y": true, "1": true,
	"false": false, "no": false, "off": false, "f": false, "n": false, "0": false,
}

// parseBoolean takes a JSON boolean, the numbers 1 and 0, and the words.
func (f Field) parseBoolean(raw json.RawMessage) (any, []Fault) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	if text, isText := unquote(raw); isText {
		if b, known := booleans[lowerASCII(text)]; known {
			return b, nil
		}
		return nil, f.fault(raw, "bool_parsing", "Input should be a valid boolean, unable to interpret input")
	}
	n, kind := integer(raw)
	switch {
	case kind != "" || n == math.MaxInt || n == math.MinInt:
		return nil, f.fault(raw, "bool_type", "Input should be a valid boolean")
	case n != 0 && n != 1:
		return nil, f.fault(raw, "bool_parsing", "Input should be a valid boolean, unable to interpret input")
	}
	return n == 1, nil
}

// lowerASCII folds ASCII letters only, so that no other letter becomes one.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
