package parse

import (
	"regexp"

	"github.com/smacker/go-tree-sitter/kotlin"
)

// funInterface finds what the grammar does not know.
var funInterface = regexp.MustCompile(`\b(fun)[ \t]+interface\b`)

// The receiver of an extension function qualifies its name.
var kotlinSpec = spec{
	label:   "Kotlin",
	grammar: kotlin.GetLanguage,
	rules: `
		class_declaration      interface  #type_identifier  if=#interface
		class_declaration      enum       #type_identifier  if=#enum
		class_declaration      class      #type_identifier
		object_declaration     object     #type_identifier
		companion_object       object     #type_identifier
		type_alias             type       #type_identifier  leaf
		function_declaration   function   -  via=function
		secondary_constructor  function   #constructor
		property_declaration   function   #variable_declaration/#simple_identifier  if=#lambda_literal|#anonymous_function  top
		import_header          import     -  via=import  leaf
	`,
	attrs:    "annotation file_annotation",
	bodies:   "class_body enum_class_body function_body lambda_literal anonymous_function",
	comments: "line_comment multiline_comment",
	strings:  "string_literal character_literal",
	code:     "interpolated_expression interpolated_identifier",
	blank:    funInterface,
	hooks:    map[string]hook{"function": kotlinFunction, "import": importWildcard("wildcard_import", "identifier")},
}

// kotlinFunction names fun f() and fun T.f().
func kotlinFunction(x *extractor, i int32) []found {
	owner := ""
	for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
		switch x.typeOf(n) {
		case "user_type", "nullable_type":
			if t := x.first(n, route{{{op: '>', types: x.l.typeSet("type_identifier")}}}); t >= 0 {
				owner = x.string(t)
			}
		case "simple_identifier":
			return []found{{node: n, name: x.string(n), owner: owner}}
		}
	}
	return nil
}
