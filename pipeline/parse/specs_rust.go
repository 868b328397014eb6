package parse

import (
	"strings"

	"github.com/smacker/go-tree-sitter/rust"
)

// An impl qualifies what is in it by its type. use a::{b, c} is two imports.
var rustSpec = spec{
	label:   "Rust",
	grammar: rust.GetLanguage,
	rules: `
		function_item|function_signature_item  function  name
		struct_item       struct  name
		enum_item         enum    name
		union_item        union   name
		trait_item        trait   name
		type_item|associated_type  type  name
		mod_item          module  name  if=body
		impl_item         scope   type/>type_identifier|type
		macro_definition  macro   name  body=#macro_rule
		use_declaration   import  -     via=use  leaf
		extern_crate_declaration  import  name  leaf
	`,
	attrs:    "attribute_item",
	comments: "line_comment block_comment",
	strings:  "string_literal raw_string_literal char_literal",
	hooks:    map[string]hook{"use": rustUse},
}

// maxUses bounds what one use declaration may name.
const maxUses = 1_000

// rustUse lists what a use declaration names.
func rustUse(x *extractor, i int32) []found {
	var out []found
	if argument := x.child(i, x.l.fields["argument"]); argument >= 0 {
		x.rustTree(argument, "", maxDepth, &out)
	}
	return out
}

// rustTree adds what the use tree at node i names below a prefix.
func (x *extractor) rustTree(i int32, prefix string, depth int, out *[]found) {
	if depth == 0 || len(*out) == maxUses || len(prefix) > maxName {
		return
	}
	switch x.typeOf(i) {
	case "use_list":
		for n := x.firstChild(i); n >= 0; n = x.nextSibling(n) {
			x.rustTree(n, prefix, depth-1, out)
		}
	case "scoped_use_list":
		if path := x.child(i, x.l.fields["path"]); path >= 0 {
			prefix += x.string(path) + "::"
		}
		if list := x.child(i, x.l.fields["list"]); list >= 0 {
			x.rustTree(list, prefix, depth-1, out)
		}
	case "use_as_clause":
		if path := x.child(i, x.l.fields["path"]); path >= 0 {
			x.rustTree(path, prefix, depth-1, out)
		}
	case "self":
		*out = append(*out, found{node: i, name: strings.TrimSuffix(prefix+"self", "::self")})
	case "line_comment", "block_comment", "ERROR":
	default:
		*out = append(*out, found{node: i, name: prefix + x.string(i)})
	}
}
