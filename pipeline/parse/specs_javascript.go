package parse

import (
	"strings"

	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
)

// A function that is a value has the name of what it is assigned to, also
// behind a wrapper: const save = useCallback(() => …).
const (
	scriptRules = `
		function_declaration|generator_function_declaration  function  name
		method_definition    function  name
		class_declaration    class     name
		variable_declarator  function  name  if=VALUE:FUNCTION  body=VALUE/body
		variable_declarator  class     name  if=value:class  body=value/body
		variable_declarator  scope     name  if=VALUE:object
		variable_declarator  function  -     via=wrapped  body=value/arguments/#arrow_function/body|value/arguments/#function_expression/body
		assignment_expression  function  left  if=right:FUNCTION  if=left:identifier|member_expression  body=right/body  split
		assignment_expression  class     left  if=right:class  if=left:identifier|member_expression  body=right/body  split
		assignment_expression  scope     left  if=right:object  if=left:identifier|member_expression  isnot=left:module.exports|exports  split
		pair                 function  key  if=value:FUNCTION  body=value/body
		pair                 scope     key  if=value:object
		export_statement     function  #default  if=value:FUNCTION  body=value/body
		export_statement     class     #default  if=value:class  body=value/body
		import_statement     import    source  leaf
		call_expression      import    arguments/#string  is=function:require
	`
	scriptFunctions = "arrow_function|function_expression|generator_function"
	scriptWraps     = "export_statement lexical_declaration variable_declaration variable_declarator"
)

// scriptRulesBehind returns the rules for a grammar in which an initial value
// may be wrapped in some types of node.
func scriptRulesBehind(wrappers string) string {
	return strings.NewReplacer("VALUE", "value"+wrappers, "FUNCTION", scriptFunctions).Replace(scriptRules)
}

const typeRules = `
	import_statement            import     #import_require_clause/source  if=#import_require_clause  leaf
	interface_declaration       interface  name
	type_alias_declaration      type       name  body=value  if=value:object_type
	type_alias_declaration      type       name
	enum_declaration            enum       name  leaf
	abstract_class_declaration  class      name
	internal_module|module      module     name
	function_signature|method_signature|abstract_method_signature  function  name  leaf
	public_field_definition     function   name  if=value:arrow_function|function_expression  body=value/body
`

var scriptHooks = map[string]hook{"wrapped": wrappedFunction}

var javascriptSpec = spec{
	label:    "JavaScript",
	grammar:  javascript.GetLanguage,
	rules:    "field_definition function property if=value:arrow_function|function_expression body=value/body\n" + scriptRulesBehind("~parenthesized_expression"),
	wraps:    scriptWraps,
	attrs:    "decorator",
	comments: "comment html_comment hash_bang_line",
	strings:  "string template_string regex",
	code:     "template_substitution",
	hooks:    scriptHooks,
}

var typescriptSpec = spec{
	label:    "TypeScript",
	grammar:  typescript.GetLanguage,
	rules:    typeRules + scriptRulesBehind("~parenthesized_expression~as_expression~satisfies_expression~non_null_expression"),
	wraps:    scriptWraps + " ambient_declaration expression_statement",
	attrs:    "decorator",
	comments: "comment html_comment hash_bang_line",
	strings:  "string template_string regex",
	code:     "template_substitution",
	hooks:    scriptHooks,
}

var tsxSpec = spec{
	label:    typescriptSpec.label,
	grammar:  tsx.GetLanguage,
	rules:    typescriptSpec.rules,
	wraps:    typescriptSpec.wraps,
	attrs:    typescriptSpec.attrs,
	comments: typescriptSpec.comments,
	strings:  typescriptSpec.strings,
	code:     typescriptSpec.code,
	hooks:    scriptHooks,
}

// wrappedFunction names a function by the constant that its wrapper's result is
// assigned to. list.map(x => …) is no wrapper: the callee must be a plain name,
// a member of something capitalised, or a call itself.
func wrappedFunction(x *extractor, i int32) []found {
	f := x.l.fields
	name, value := x.child(i, f["name"]), x.child(i, f["value"])
	if name < 0 || value < 0 || x.typeOf(name) != "identifier" || x.typeOf(value) != "call_expression" {
		return nil
	}
	if !x.dresses(value, maxWrappers) {
		return nil
	}
	return []found{{node: name, name: x.string(name)}}
}

// maxWrappers is how deep memo(forwardRef(observer(…))) may go.
const maxWrappers = 4

// dresses reports whether a call wraps a function, or another such call.
func (x *extractor) dresses(call int32, depth int) bool {
	callee, arguments := x.child(call, x.l.fields["function"]), x.child(call, x.l.fields["arguments"])
	if depth == 0 || callee < 0 || arguments < 0 || !x.wrapper(callee) {
		return false
	}
	for n := x.firstChild(arguments); n >= 0; n = x.nextSibling(n) {
		switch x.typeOf(n) {
		case "arrow_function", "function_expression":
			return true
		case "call_expression":
			if x.dresses(n, depth-1) {
				return true
			}
		}
	}
	return false
}

// wrapper reports whether the result of calling a callee with a function is
// likely to be that function, dressed up.
func (x *extractor) wrapper(callee int32) bool {
	switch x.typeOf(callee) {
	case "identifier":
		switch x.string(callee) {
		case "setTimeout", "setInterval", "setImmediate", "requestAnimationFrame", "useMemo", "useState", "useRef", "useReducer":
			return false
		}
		return true
	case "call_expression":
		inner := x.child(callee, x.l.fields["function"])
		return inner >= 0 && x.typeOf(inner) == "identifier"
	case "member_expression":
		object := x.string(callee)
		switch object, _, _ = strings.Cut(object, "."); object {
		case "Array", "Object", "Promise", "JSON", "Math", "":
			return false
		}
		return isName(object) && object[0] >= 'A' && object[0] <= 'Z'
	}
	return false
}
