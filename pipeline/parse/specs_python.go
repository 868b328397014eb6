package parse

import "github.com/smacker/go-tree-sitter/python"

// from a import b, c is one import, a; from . import b, c is two: .b and .c.
var pythonSpec = spec{
	label:   "Python",
	grammar: python.GetLanguage,
	rules: `
		function_definition     function  name
		class_definition        class     name
		assignment              function  left  if=right:lambda  if=left:identifier  body=right/body  top
		import_statement        import    name+~aliased_import  leaf
		import_from_statement   import    -  via=from  leaf
		future_import_statement import    #__future__  leaf
	`,
	wraps:    "decorated_definition",
	attrs:    "decorator",
	comments: "comment",
	strings:  "string",
	code:     "interpolation",
	hooks:    map[string]hook{"from": pythonFrom},
}

// pythonFrom names the module of a from statement, or each name that comes from
// a package that has no name of its own.
func pythonFrom(x *extractor, i int32) []found {
	module := x.child(i, x.l.fields["module_name"])
	if module < 0 {
		return nil
	}
	from := x.string(module)
	if from != "" && from[len(from)-1] != '.' {
		return []found{{node: module, name: from}}
	}
	var out []found
	for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
		if x.nodes[n].field != x.l.fields["name"] {
			continue
		}
		name := n
		if alias := x.child(n, x.l.fields["name"]); alias >= 0 {
			name = alias
		}
		out = append(out, found{node: n, name: from + x.string(name)})
	}
	if out == nil { // from . import *
		out = []found{{node: module, name: from}}
	}
	return out
}
