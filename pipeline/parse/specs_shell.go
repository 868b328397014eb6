package parse

import (
	"github.com/smacker/go-tree-sitter/bash"
	"github.com/smacker/go-tree-sitter/hcl"
	"github.com/smacker/go-tree-sitter/lua"
)

var bashSpec = spec{
	label:   "Bash",
	grammar: bash.GetLanguage,
	rules: `
		function_definition  function  name
		command              import    argument  is=name:source|.
	`,
	comments: "comment",
	strings:  "string raw_string ansi_c_string translated_string heredoc_body",
	code:     "expansion simple_expansion command_substitution process_substitution",
}

var luaSpec = spec{
	label:   "Lua",
	grammar: lua.GetLanguage,
	rules: `
		function_statement    function  name      body=#function_body  split
		variable_declaration  function  name      body=value/#function_body  if=value:function  split
		variable_declaration  scope     name      if=value:tableconstructor  split
		field                 function  name|key  body=value/#function_body  if=value:function
		field                 scope     name|key  if=value:tableconstructor
		function_call         import    args/#string|args  is=prefix:require
	`,
	wraps:    "variable_declaration",
	comments: "comment",
	strings:  "string string_argument",
}

// Blocks inside of blocks are not entities.
var terraformSpec = spec{
	label:   "Terraform",
	grammar: hcl.GetLanguage,
	rules: `
		block  block  -  via=labels  body=#block_start  leaf
	`,
	comments: "comment",
	strings:  "string_lit quoted_template heredoc_template",
	code:     "template_interpolation template_directive",
	hooks:    map[string]hook{"labels": terraformLabels},
}

// terraformLabels joins a block's type and labels: resource.aws_instance.web.
func terraformLabels(x *extractor, i int32) []found {
	var out []found
	for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
		switch x.typeOf(n) {
		case "identifier", "string_lit":
			word := cleanName(x.string(n), false)
			if out == nil {
				out = []found{{node: n, name: word}}
			} else {
				out[0].name += "." + word
			}
		case "block_start":
			return out
		}
	}
	return out
}
