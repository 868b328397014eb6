package parse

import "github.com/smacker/go-tree-sitter/scala"

var scalaSpec = spec{
	label:   "Scala",
	grammar: scala.GetLanguage,
	rules: `
		class_definition   class   name
		trait_definition   trait   name
		enum_definition    enum    name
		object_definition|package_object  object  name
		type_definition    type    name
		given_definition   object  name
		function_definition|function_declaration  function  name
		val_definition     function  pattern  if=value:lambda_expression  if=pattern:identifier  body=value
		import_declaration  import  -  via=import  leaf
	`,
	attrs:    "annotation",
	comments: "comment block_comment",
	strings:  "string interpolated_string character_literal",
	code:     "interpolation",
	hooks:    map[string]hook{"import": scalaImport},
}

// scalaImport names import a.b, a.b._ and a.{b, c => d}.
func scalaImport(x *extractor, i int32) []found {
	prefix, at := "", int32(-1)
	for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
		switch {
		case x.nodes[n].field == x.l.fields["path"]:
			prefix += x.string(n)
			at = n
		case x.typeOf(n) == "namespace_wildcard":
			return []found{{node: n, name: prefix + "." + x.string(n)}}
		case x.typeOf(n) == "namespace_selectors":
			var out []found
			for m := x.firstChild(n); m >= 0; m = x.nextSibling(m) {
				name := m
				if renamed := x.child(m, x.l.fields["name"]); renamed >= 0 {
					name = renamed
				}
				out = append(out, found{node: name, name: prefix + "." + x.string(name)})
			}
			return out
		}
	}
	if at < 0 {
		return nil
	}
	return []found{{node: at, name: prefix}}
}
