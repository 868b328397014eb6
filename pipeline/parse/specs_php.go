package parse

import (
	"strings"

	"github.com/smacker/go-tree-sitter/php"
)

// Namespaces do not qualify names, as packages do not in Java.
var phpSpec = spec{
	label:   "PHP",
	grammar: php.GetLanguage,
	rules: `
		class_declaration      class      name
		interface_declaration  interface  name
		trait_declaration      trait      name
		enum_declaration       enum       name
		function_definition|method_declaration  function  name
		assignment_expression  function   left/#name  if=right:anonymous_function_creation_expression|arrow_function  body=right/body  top
		namespace_use_declaration  import  -  via=use  leaf
		require_expression|require_once_expression|include_expression|include_once_expression  import  #string|#encapsed_string
	`,
	wraps:    "expression_statement",
	attrs:    "attribute_list",
	comments: "comment",
	strings:  "string encapsed_string heredoc nowdoc shell_command_expression",
	code:     "variable_name member_access_expression nullsafe_member_access_expression subscript_expression dynamic_variable_name member_call_expression",
	hooks:    map[string]hook{"use": phpUse},
}

// phpUse names use A\B, C and use A\{B, C}.
func phpUse(x *extractor, i int32) []found {
	var out []found
	prefix := ""
	add := func(clause int32) {
		if name := x.firstChild(clause); name >= 0 {
			out = append(out, found{node: name, name: prefix + strings.TrimPrefix(x.string(name), `\`)})
		}
	}
	for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
		switch x.typeOf(n) {
		case "namespace_name":
			prefix = strings.Trim(x.string(n), `\`) + `\`
		case "namespace_use_clause":
			add(n)
		case "namespace_use_group":
			for m := x.firstChild(n); m >= 0; m = x.nextSibling(m) {
				if x.typeOf(m) == "namespace_use_group_clause" {
					add(m)
				}
			}
		}
	}
	return out
}
