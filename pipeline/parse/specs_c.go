package parse

import (
	"regexp"

	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
)

// A declaration without a body is no definition.
const cRules = `
	type_definition     struct    declarator*~parenthesized_declarator  if=type:struct_specifier  if=type/body  body=type/body
	type_definition     union     declarator*~parenthesized_declarator  if=type:union_specifier  if=type/body  body=type/body
	type_definition     enum      declarator*~parenthesized_declarator  if=type:enum_specifier  if=type/body  body=type/body
	type_definition     type      declarator*~parenthesized_declarator
	union_specifier     union     name  if=body
	enum_specifier      enum      name  if=body
	preproc_function_def  macro   name  body=value
	preproc_include     import    path
`

var cSpec = spec{
	label:   "C",
	grammar: c.GetLanguage,
	rules: cRules + `
		function_definition  function  declarator*~parenthesized_declarator~attributed_declarator  if=declarator*~parenthesized_declarator~attributed_declarator:identifier
		struct_specifier     struct    name  if=body
	`,
	attrs:    "attribute_declaration",
	comments: "comment",
	strings:  "string_literal char_literal system_lib_string",
}

// exportMacro finds the macro in class LIB_EXPORT Vec : public Base {, which the
// grammar would take for the name of the class, and the rest for a function.
var exportMacro = regexp.MustCompile(`\b(?:class|struct)[ \t]+([A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)[ \t]+[A-Za-z_]\w*\s*(?:final\s*)?(?:\{|:[^:])`)

// Namespaces qualify names. A class behind another macro is still a class, but
// the methods inside of it are lost. The tests of the usual frameworks have the
// names of their macros' arguments.
var cppSpec = spec{
	label:   "C++",
	grammar: cpp.GetLanguage,
	rules: cRules + `
		function_definition  class     -  via=exported  if=type:class_specifier  unless=type/body  unless=declarator:function_declarator|pointer_declarator|reference_declarator
		function_definition  struct    -  via=exported  if=type:struct_specifier  unless=type/body  unless=declarator:function_declarator|pointer_declarator|reference_declarator
		function_definition  function  -  via=test  is=declarator/declarator:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|BENCHMARK_F|BENCHMARK_DEFINE_F|FUZZ_TEST|BOOST_AUTO_TEST_CASE
		function_definition  function  declarator  if=declarator:operator_cast  split
		function_definition  function  declarator*~parenthesized_declarator~attributed_declarator~reference_declarator  if=declarator*~parenthesized_declarator~attributed_declarator~reference_declarator:identifier|field_identifier|qualified_identifier|destructor_name|operator_name|template_function  split
		class_specifier      class     name  if=body  split
		struct_specifier     struct    name  if=body  split
		namespace_definition scope     name  split
		alias_declaration    type      name
		concept_definition   concept   name
	`,
	wraps:    "template_declaration",
	attrs:    "attribute_declaration",
	comments: "comment",
	strings:  "string_literal char_literal raw_string_literal system_lib_string",
	blank:    exportMacro,
	hooks:    map[string]hook{"exported": exportedClass, "test": testCase},
}

// exportedClass names class EXPORT Vec : public Base {}.
func exportedClass(x *extractor, i int32) []found {
	for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
		at := n
		if x.typeOf(n) == "ERROR" {
			at = x.firstChild(n)
		}
		if at >= 0 && x.typeOf(at) == "identifier" {
			return []found{{node: at, name: x.string(at)}}
		}
	}
	return nil
}

// testCase names TEST(Suite, Name) {}.
func testCase(x *extractor, i int32) []found {
	declarator := x.child(i, x.l.fields["declarator"])
	parameters := x.child(declarator, x.l.fields["parameters"])
	if parameters < 0 {
		return nil
	}
	var words []int32
	for n := x.firstChild(parameters); n >= 0; n = x.nextSibling(n) {
		words = append(words, n)
	}
	switch len(words) {
	case 1:
		return []found{{node: words[0], name: x.string(words[0])}}
	case 2:
		return []found{{node: words[1], name: x.string(words[1]), owner: cleanName(x.string(words[0]), false)}}
	}
	return nil
}
