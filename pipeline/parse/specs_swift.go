package parse

import "github.com/smacker/go-tree-sitter/swift"

// An extension qualifies what is in it by its type.
var swiftSpec = spec{
	label:   "Swift",
	grammar: swift.GetLanguage,
	rules: `
		class_declaration     struct    name  if=declaration_kind:struct
		class_declaration     enum      name  if=declaration_kind:enum
		class_declaration     scope     name  if=declaration_kind:extension  split
		class_declaration     class     name
		protocol_declaration  protocol  name
		typealias_declaration type      name  leaf
		function_declaration|protocol_function_declaration|init_declaration  function  name
		deinit_declaration    function  #deinit
		subscript_declaration function  #subscript
		import_declaration    import    #identifier  leaf
	`,
	attrs:    "attribute",
	bodies:   "computed_property",
	comments: "comment multiline_comment",
	strings:  "line_string_literal multi_line_string_literal raw_string_literal regex_literal",
	code:     "interpolated_expression raw_str_interpolation",
}
