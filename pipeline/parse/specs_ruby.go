package parse

import "github.com/smacker/go-tree-sitter/ruby"

var rubySpec = spec{
	label:   "Ruby",
	grammar: ruby.GetLanguage,
	rules: `
		method|singleton_method  function  name  body=body
		class                    class     name  split
		module                   module    name  split
		assignment               struct    left  is=right/receiver:Struct|Data  is=right/method:new|define  if=left:constant|scope_resolution  body=right/block  split
		assignment               class     left  is=right/receiver:Class  is=right/method:new  if=left:constant|scope_resolution  body=right/block  split
		assignment               module    left  is=right/receiver:Module  is=right/method:new  if=left:constant|scope_resolution  body=right/block  split
		assignment               function  left  if=right:lambda  if=left:constant  body=right/body
		call                     import    arguments/#string  is=method:require|require_relative|load  unless=receiver
	`,
	comments: "comment",
	strings:  "string string_array heredoc_body regex subshell character chained_string",
	code:     "interpolation",
}
