package tools

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage/cputest"
)

// full has a field of every sort.
var full = Schema{Title: "FullArgs", Fields: []Field{
	{Name: "query", Type: String, Required: true, MinLength: 1, MaxLength: 200, MaxBytes: 512},
	{Name: "entity_type", Type: String, Nullable: true, Enum: []string{"function", "class", "import", "doc_section", "terraform_block"}},
	{Name: "limit", Type: Integer, Default: 10, Min: Limit(1), Max: Limit(50)},
	{Name: "start_line", Type: Integer, Nullable: true, Default: 1, Min: Limit(1)},
	{Name: "regex", Type: Boolean, Default: false},
	{Name: "patterns", Type: StringList, Nullable: true},
	{Name: "session", Type: String, Default: "abc", Pattern: "^[a-z]+$", MaxLength: 3},
}}

// parseOne checks the value of a single field of the given sort.
func parseOne(t *testing.T, f Field, raw string) (any, string) {
	t.Helper()
	f.Name = "k"
	args, faults := Schema{Fields: []Field{f}}.Parse(json.RawMessage(`{"k":` + raw + `}`))
	if len(faults) == 0 {
		return args["k"], ""
	}
	if len(faults) > 1 || args != nil {
		t.Errorf("%s: got %d faults and arguments %v", raw, len(faults), args)
	}
	if got := string(faults[0].Input.(json.RawMessage)); got != raw {
		t.Errorf("%s: got input %s", raw, got)
	}
	return nil, faults[0].Type
}

// The expected values are those of pydantic 2.13.4.
func TestIntegersConvertAsPydanticDoes(t *testing.T) {
	t.Parallel()
	digits := func(n int) string { return strings.Repeat("1", n) }
	for raw, want := range map[string]any{
		`10`: 10, `10.0`: 10, `1e1`: 10, `"10"`: 10, `" 10 "`: 10, `"\t10\n"`: 10, `"\u00a010"`: 10, `"\u001c10"`: "int_parsing",
		`"010"`: 10, `"+10"`: 10, `"10.0"`: 10, `"10.000"`: 10, `"1_0"`: 10, `"1__0"`: "int_parsing", `"_10"`: "int_parsing",
		`"10_"`: "int_parsing", `"1_0.0"`: 10, `"10.0_0"`: "int_parsing", `"+ 10"`: "int_parsing", `"+-10"`: "int_parsing",
		`"-10"`: -10, `"--10"`: "int_parsing", `"-010"`: -10, `"-0"`: 0, `"0_1"`: 1, `"00"`: 0, `"0_0"`: 0, `"000_1"`: 1,
		`"+_1"`: "int_parsing", `"0__1"`: "int_parsing", `10.5`: "int_from_float", `"10.5"`: "int_parsing", `"10."`: "int_parsing",
		`".0"`: "int_parsing", `"1e1"`: "int_parsing", `"0x10"`: "int_parsing", `""`: "int_parsing", `" "`: "int_parsing",
		`"ten"`: "int_parsing", `"１０"`: "int_parsing", `"٣"`: "int_parsing", `[10]`: "int_type", `{}`: "int_type", `null`: "int_type",
		`true`: 1, `false`: 0, `1e18`: 1000000000000000000, `1e19`: "int_parsing_size", `-1e19`: "int_parsing_size",
		`1e300`: "int_parsing_size", `1e400`: "finite_number", `-1e400`: "finite_number", `1e999999999`: "finite_number",
		`1e-400`: 0, `0.1e1`: 1, `-0`: 0, `-0.0`: 0, `"0.0"`: 0, `"1.0.0"`: "int_parsing", `"+"`: "int_parsing", `"_"`: "int_parsing",
		`"1_0_0.00"`: 100, `"inf"`: "int_parsing", `"10\u0000"`: "int_parsing", `"12 34"`: "int_parsing",
		`123456789012345678901234567890`: math.MaxInt, `"-9223372036854775809"`: math.MinInt,
		`"` + digits(4300) + `"`: math.MaxInt, `"` + digits(4301) + `"`: "int_parsing_size", digits(4301): "int_parsing_size",
		`"` + strings.Repeat("0", 5000) + `1"`: 1, `"1_` + digits(4299) + `"`: math.MaxInt,
	} {
		got, fault := parseOne(t, Field{Type: Integer}, raw)
		if fault != "" {
			got = fault
		}
		if got != want {
			t.Errorf("integer %.60s: got %v, want %v", raw, got, want)
		}
	}
}

// The expected values are those of pydantic 2.13.4.
func TestBooleansConvertAsPydanticDoes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]any{
		`true`: true, `"true"`: true, `"TRUE"`: true, `"yes"`: true, `"yEs"`: true, `"on"`: true, `"1"`: true, `1`: true, `"t"`: true, `"Y"`: true, `1.0`: true,
		`false`: false, `"false"`: false, `"off"`: false, `"no"`: false, `"0"`: false, `0`: false, `"n"`: false, `0.0`: false, `-0.0`: false,
		`2`: "bool_parsing", `-1`: "bool_parsing", `""`: "bool_parsing", `" true"`: "bool_parsing", `"10"`: "bool_parsing", `"1.0"`: "bool_parsing",
		`2.0`: "bool_parsing", `"ＯＮ"`: "bool_parsing", `"ſ"`: "bool_parsing", `1.5`: "bool_type", `null`: "bool_type", `[]`: "bool_type", `{}`: "bool_type",
		`1e300`: "bool_type", `1e400`: "bool_type", `123456789012345678901234567890`: "bool_type",
	} {
		got, fault := parseOne(t, Field{Type: Boolean}, raw)
		if fault != "" {
			got = fault
		}
		if got != want {
			t.Errorf("boolean %s: got %v, want %v", raw, got, want)
		}
	}
}

func TestStringsStayStrings(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"12345"`: "12345", `"true"`: "true", `"[1]"`: "[1]", `"null"`: "null", `" x "`: " x ", `"\ud800"`: "\uFFFD", `"\u0000"`: "\x00",
		`12345`: "string_type", `true`: "string_type", `["a"]`: "string_type", `{}`: "string_type", `null`: "string_type",
	} {
		got, fault := parseOne(t, Field{Type: String}, raw)
		if got != want && fault != want {
			t.Errorf("string %s: got %v %s, want %s", raw, got, fault, want)
		}
	}
}

func TestListsAreAlsoTakenAsJSONText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]any{
		`["*.go"]`: []string{"*.go"}, `"[\"*.go\"]"`: []string{"*.go"}, `" [\"a\", \"b\"] "`: []string{"a", "b"}, `[]`: []string{}, `"[]"`: []string{},
		`"*.go"`: "list_type", `""`: "list_type", `"null"`: "list_type", `7`: "list_type", `{}`: "list_type", `{"a":1}`: "list_type", `null`: "list_type",
	} {
		got, fault := parseOne(t, Field{Type: StringList}, raw)
		if fault != "" {
			got = fault
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("list %s (-want +got):\n%s", raw, diff)
		}
	}
}

func TestParseListsEveryFaultInOrder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, raw, want string }{
		{"missing", `{}`, `[{"type":"missing","loc":["query"],"msg":"Field required","input":{}}]`},
		{"missing echoes all arguments", `{"limit":3}`, `[{"type":"missing","loc":["query"],"msg":"Field required","input":{"limit":3}}]`},
		{"no arguments", ``, `[{"type":"missing","loc":["query"],"msg":"Field required","input":{}}]`},
		{"null arguments", `null`, `[{"type":"missing","loc":["query"],"msg":"Field required","input":{}}]`},
		{"schema order, unknown last in the order sent", `{"zz":1,"aa":2,"zz":3,"limit":500,"query":""}`,
			`[{"type":"string_too_short","loc":["query"],"msg":"String should have at least 1 character","input":""},` +
				`{"type":"less_than_equal","loc":["limit"],"msg":"Input should be less than or equal to 50","input":500},` +
				`{"type":"extra_forbidden","loc":["zz"],"msg":"Extra inputs are not permitted","input":3},` +
				`{"type":"extra_forbidden","loc":["aa"],"msg":"Extra inputs are not permitted","input":2}]`},
		{"last of a repeated name", `{"query":7,"query":"a","limit":5,"limit":0}`,
			`[{"type":"greater_than_equal","loc":["limit"],"msg":"Input should be greater than or equal to 1","input":0}]`},
		{"literal", `{"query":"a","entity_type":7}`,
			`[{"type":"literal_error","loc":["entity_type"],"msg":"Input should be 'function', 'class', 'import', 'doc_section' or 'terraform_block'","input":7}]`},
		{"too long", `{"query":"` + strings.Repeat("é", 201) + `"}`,
			`[{"type":"string_too_long","loc":["query"],"msg":"String should have at most 200 characters","input":"` + strings.Repeat("é", 201) + `"}]`},
		{"too many bytes", `{"query":"` + strings.Repeat("😀", 129) + `"}`,
			`[{"type":"value_error","loc":["query"],"msg":"Value error, query is too long; the limit is 512 bytes","input":"` + strings.Repeat("😀", 129) + `"}]`},
		{"list items", `{"query":"a","patterns":["a",1,null]}`,
			`[{"type":"string_type","loc":["patterns",1],"msg":"Input should be a valid string","input":1},` +
				`{"type":"string_type","loc":["patterns",2],"msg":"Input should be a valid string","input":null}]`},
		{"pattern", `{"query":"a","session":"B"}`,
			`[{"type":"string_pattern_mismatch","loc":["session"],"msg":"String should match pattern '^[a-z]+$'","input":"B"}]`},
		{"null where none is allowed", `{"query":"a","limit":null,"regex":null}`,
			`[{"type":"int_type","loc":["limit"],"msg":"Input should be a valid integer","input":null},` +
				`{"type":"bool_type","loc":["regex"],"msg":"Input should be a valid boolean","input":null}]`},
		{"raw numbers", `{"query":12345678901234567890123,"limit":1e1000000000}`,
			`[{"type":"string_type","loc":["query"],"msg":"Input should be a valid string","input":12345678901234567890123},` +
				`{"type":"finite_number","loc":["limit"],"msg":"Input should be a finite number","input":1e1000000000}]`},
		{"list as arguments", `[1]`, `[{"type":"dict_type","loc":["arguments"],"msg":"Input should be a valid dictionary","input":[1]}]`},
		{"text as arguments", `"{}"`, `[{"type":"dict_type","loc":["arguments"],"msg":"Input should be a valid dictionary","input":"{}"}]`},
		{"broken", `{"a":`, `[{"type":"json_invalid","loc":["arguments"],"msg":"JSON decode error","input":{}}]`},
		{"text after", `{} {}`, `[{"type":"json_invalid","loc":["arguments"],"msg":"JSON decode error","input":{}}]`},
		{"not UTF-8", "{\"query\":\"a\",\"x\":\"\xff\"}", `[{"type":"extra_forbidden","loc":["x"],"msg":"Extra inputs are not permitted","input":"` + "\uFFFD" + `"}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			args, faults := full.Parse(json.RawMessage(tc.raw))
			if args != nil {
				t.Errorf("got arguments %v", args)
			}
			if diff := cmp.Diff(tc.want, string(encode(faults))); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseFillsDefaults(t *testing.T) {
	t.Parallel()
	defaults := Arguments{"query": "a", "limit": 10, "start_line": 1, "regex": false, "session": "abc"}
	for _, raw := range []string{
		`{"query":"a"}`,
		`{"query":"a","entity_type":null,"start_line":null,"patterns":null}`,
		`{"query":"a","entity_type":""}`,
		` {"query" : "a"} `,
	} {
		got, faults := full.Parse(json.RawMessage(raw))
		if diff := cmp.Diff(defaults, got); diff != "" || faults != nil {
			t.Errorf("%s: faults %v (-want +got):\n%s", raw, faults, diff)
		}
	}
}

func TestHostileArgumentsEndSoon(t *testing.T) {
	t.Parallel()
	var took time.Duration
	for _, raw := range []string{
		strings.Repeat(`{"query":`, 200_000),
		`{"query":` + strings.Repeat(`[`, 200_000) + strings.Repeat(`]`, 200_000) + `}`,
		`{"query":"a","limit":"` + strings.Repeat("9", 5_000_000) + `"}`,
		`{"query":"a","limit":` + strings.Repeat("9", 5_000_000) + `}`,
		`{"query":"a","limit":"` + strings.Repeat("1_", 2_000_000) + `"}`,
		`{"query":"a","limit":1e` + strings.Repeat("9", 1_000_000) + `}`,
	} {
		took += cputest.Of(func() {
			if _, faults := full.Parse(json.RawMessage(raw)); len(faults) != 1 {
				t.Errorf("%.40s: got %d faults, want 1", raw, len(faults))
			}
		})
	}
	if took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range []string{`{}`, `{"query":"a","limit":"1_0","regex":"on","patterns":"[\"a\"]"}`, `[`, `{"query":"\ud800"}`, `{"a":1e99}`, "\xff"} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, faults := full.Parse(raw)
		if (args == nil) == (faults == nil) {
			t.Fatalf("got arguments %v and faults %v, want one of the two", args, faults)
		}
		if !json.Valid(encode(faults)) || len(faults) > 0 && string(encode(faults)) == "null" {
			t.Fatalf("faults can't be printed: %#v", faults)
		}
		if faults == nil {
			again, faults := full.Parse(encode(args))
			if diff := cmp.Diff(args, again); diff != "" {
				t.Fatalf("parsed arguments change when parsed again: %v\n%s", faults, diff)
			}
		}
	})
}
