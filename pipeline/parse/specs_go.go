package parse

import "github.com/smacker/go-tree-sitter/golang"

// Local types and closures are not definitions. Methods of interfaces are.
var goSpec = spec{
	label:   "Go",
	grammar: golang.GetLanguage,
	rules: `
		function_declaration  function  name  leaf
		method_declaration    function  name  owner=receiver/>type_identifier  leaf
		method_elem           function  name  leaf
		type_spec             struct    name  if=type:struct_type  body=type/#field_declaration_list  leaf
		type_spec             interface name  if=type:interface_type  body=type
		type_spec|type_alias  type      name  leaf
		var_spec              function  name  if=value/#func_literal  body=value/#func_literal/body  top  leaf
		import_spec           import    path  leaf
	`,
	wraps:    "type_declaration import_declaration var_declaration",
	comments: "comment",
	strings:  "interpreted_string_literal raw_string_literal rune_literal",
}
