package parse

import (
	"slices"

	"github.com/smacker/go-tree-sitter/java"
)

// Classes inside of methods are not definitions.
var javaSpec = spec{
	label:   "Java",
	grammar: java.GetLanguage,
	rules: `
		class_declaration            class      name
		interface_declaration        interface  name
		annotation_type_declaration  interface  name
		enum_declaration             enum       name
		record_declaration           record     name
		method_declaration|constructor_declaration|compact_constructor_declaration|annotation_type_element_declaration  function  name  leaf
		import_declaration           import     -  via=import  leaf
	`,
	attrs:    "annotation marker_annotation",
	comments: "line_comment block_comment",
	strings:  "string_literal character_literal",
	code:     "template_expression string_interpolation",
	hooks:    map[string]hook{"import": importWildcard("asterisk", "scoped_identifier", "identifier")},
}

// importWildcard names an import by its first child of one of the types, with
// .* behind when there is a wildcard.
func importWildcard(wildcard string, types ...string) hook {
	return func(x *extractor, i int32) []found {
		var out []found
		for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
			switch is := x.typeOf(n); {
			case out == nil && slices.Contains(types, is):
				out = []found{{node: n, name: x.string(n)}}
			case out != nil && is == wildcard:
				out[0].name += ".*"
			}
		}
		return out
	}
}
