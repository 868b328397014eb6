package parse

import "github.com/smacker/go-tree-sitter/csharp"

// Namespaces do not qualify names, as packages do not in Java.
var csharpSpec = spec{
	label:   "C#",
	grammar: csharp.GetLanguage,
	rules: `
		class_declaration      class      name
		struct_declaration     struct     name
		interface_declaration  interface  name
		record_declaration     record     name
		enum_declaration       enum       name  leaf
		delegate_declaration   type       name  leaf
		method_declaration|constructor_declaration|local_function_statement  function  name
		destructor_declaration           function  -  via=destructor
		operator_declaration             function  -  via=operator
		conversion_operator_declaration  function  -  via=conversion
		indexer_declaration              function  #this  body=accessors|value
		using_directive        import     #qualified_name|#alias_qualified_name|#generic_name|#identifier  leaf
	`,
	wraps:    "global_statement",
	attrs:    "attribute_list",
	comments: "comment",
	strings:  "string_literal verbatim_string_literal raw_string_literal interpolated_string_expression character_literal",
	code:     "interpolation",
	hooks: map[string]hook{
		"destructor": prefixed("~", "name"),
		"operator":   prefixed("operator ", "operator"),
		"conversion": prefixed("operator ", "type"),
	},
}

// prefixed names a definition by a field, with something in front.
func prefixed(prefix, field string) hook {
	return func(x *extractor, i int32) []found {
		n := x.child(i, x.l.fields[field])
		if n < 0 {
			return nil
		}
		return []found{{node: n, name: prefix + x.string(n)}}
	}
}
