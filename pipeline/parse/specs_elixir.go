package parse

import "github.com/smacker/go-tree-sitter/elixir"

// Everything in Elixir is a call.
var elixirSpec = spec{
	label:   "Elixir",
	grammar: elixir.GetLanguage,
	rules: `
		call  function  -                 via=function  is=target:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate  body=#do_block
		call  module    #arguments/#alias  is=target:defmodule  body=#do_block  split
		call  protocol  #arguments/#alias  is=target:defprotocol  body=#do_block  split
		call  scope     #arguments/#alias  is=target:defimpl
		call  import    -                 via=modules  is=target:use|import|alias|require  leaf
	`,
	comments: "comment",
	strings:  "string charlist sigil quoted_atom",
	code:     "interpolation",
	hooks:    map[string]hook{"function": elixirFunction, "modules": elixirModules},
}

// elixirFunction names def name(…) when …, def name, def a + b.
func elixirFunction(x *extractor, i int32) []found {
	n := x.first(i, route{{{op: '#', types: x.l.typeSet("arguments")}}})
	if n < 0 {
		return nil
	}
	for n = x.firstChild(n); n >= 0; {
		switch x.typeOf(n) {
		case "binary_operator":
			operator := x.child(n, x.l.fields["operator"])
			if operator >= 0 && x.string(operator) != "when" {
				return []found{{node: operator, name: x.string(operator)}}
			}
			n = x.child(n, x.l.fields["left"])
		case "call":
			n = x.child(n, x.l.fields["target"])
		case "identifier":
			return []found{{node: n, name: x.string(n)}}
		default:
			return nil
		}
	}
	return nil
}

// elixirModules names alias A.B and alias A.{B, C}.
func elixirModules(x *extractor, i int32) []found {
	n := x.first(i, route{{{op: '#', types: x.l.typeSet("arguments")}}})
	if n < 0 {
		return nil
	}
	switch n = x.firstChild(n); {
	case n < 0:
		return nil
	case x.typeOf(n) == "alias":
		return []found{{node: n, name: x.string(n)}}
	case x.typeOf(n) != "dot":
		return nil
	}
	left, right := x.child(n, x.l.fields["left"]), x.child(n, x.l.fields["right"])
	if left < 0 || right < 0 {
		return nil
	}
	var out []found
	for m := x.firstChild(right); m >= 0; m = x.nextSibling(m) {
		out = append(out, found{node: m, name: x.string(left) + "." + x.string(m)})
	}
	return out
}

// typeSet returns the symbols of one node type.
func (l *language) typeSet(name string) set {
	s := set{}
	for _, sym := range l.types[name] {
		s[sym] = true
	}
	return s
}
