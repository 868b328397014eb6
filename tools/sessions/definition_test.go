package sessions

import (
	"strings"
	"testing"

	"codesage"
)

func TestDefinitionsOfConstantsVariablesAndFields(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ language, text, line string }{ // line: where Name must be known as defined; empty = nowhere
		{"go", "const Name = 1", "1"},
		{"go", "var Name int", "1"},
		{"go", "var other, Name = 1, 2", "1"},
		{"go", "var other = Name", ""},
		{"go", "const (\n\tOther = iota\n\tName\n\tLast = Name\n)\n\nfunc f() {\n\tName = 2\n}", "3"},
		{"go", "var (\n\tOther = []int{\n\t\tName,\n\t}\n\n\t// Name is it.\n\tName = f()\n)", "7"},
		{"go", "type T struct {\n\tOther, Name int\n\tName // embedded\n}", "2"},
		{"go", "type T struct {\n\tName\n}\n\nvar x = T{\n\tName: 1,\n}", ""},
		{"go", "\tName = 1", ""},
		{"go", "\tif Name == 1 {", ""},
		{"javascript", "export const Name = 1;", "1"},
		{"typescript", "  let Name: string;", "1"},
		{"typescript", "const { Name } = x", ""},
		{"typescript", "foo(Name = 2)", ""},
		{"typescript", "export class A extends B {\n  private readonly Name?: string;\n  f() {\n    Name = 1;\n  }\n}", "2"},
		{"typescript", "interface A {\n  Name: string;\n}\nconst a = {\n  Name: 1,\n}", "2"},
		{"python", "Name = 1", "1"},
		{"python", "Name: dict[str, int] = {}", "1"},
		{"python", "if Name == 1:\n    Name = 2", ""},
		{"python", "class A(B):\n    Name: int\n\n    def f(self):\n        Name = 1", "2"},
		{"python", "f(\n    Name=1,\n)", ""},
		{"java", "    private static final Map<String, List<A>> Name = x;", "1"},
		{"java", "    public int Name(int a) {", ""},
		{"java", "    return Name;", ""},
		{"csharp", "  public string? Name { get; set; }", "1"},
		{"csharp", "  internal const int Name = 1;", "1"},
		{"kotlin", "    override val Name: Int by lazy { 1 }", "1"},
		{"swift", "  @State private var Name = 1", "1"},
		{"scala", "  implicit lazy val Name = 1", "1"},
		{"rust", "pub(crate) const Name: u8 = 1;", "1"},
		{"rust", "    let mut Name = 1;", "1"},
		{"rust", "pub struct A<T> {\n    pub Name: u8,\n}\nfn f() {\n    A { Name: 1 };\n    Name::x()\n}", "2"},
		{"rust", "enum A {\n    Name(u8),\n}", "2"},
		{"c", "#define Name(x) x", "1"},
		{"c", "static const char *Name[] = {", "1"},
		{"c", "struct a {\n\tunsigned long Name : 3;\n};\nint f(void)\n{\n\treturn Name;\n}", "2"},
		{"c", "enum {\n\tName,\n};", "2"},
		{"cpp", "static int f(int Name) {", ""},
		{"php", "  const Name = 1;", "1"},
		{"php", "define('Name', 1);", "1"},
		{"ruby", "  Name = 1", "1"},
		{"ruby", "  Name == 1", ""},
		{"ruby", "  attr_reader :a, :Name", "1"},
		{"bash", "export Name=1", "1"},
		{"bash", "echo $x Name=1", ""},
		{"lua", "local Name = 1", "1"},
		{"protobuf", "  repeated a.B Name = 3;", "1"},
		{"terraform", "resource \"aws_instance\" \"Name\" {", "1"},
		{"terraform", "variable \"Name\" {", "1"},
		{"terraform", "locals {\n  Name = 1\n}\nmodule \"x\" {\n  Name = local.Name\n}", "2"},
		{"makefile", "Name ?= 1", "1"},
		{"yaml", "Name = 1", ""},
		{"go", "// const Name = 1", ""},
		{"python", "\"\"\"\nconst\n\"\"\"; Name = 1", ""},
	} {
		x := codesage.NewLineIndex(tc.text)
		var got []string
		for _, r := range scan(tc.text, "Name", "any") {
			marks := r.text
			marks.comment = marks.comment && tc.language != "c" // spans know that # is none
			if defines(tc.language, "Name", x, r.line, marks) {
				got = append(got, string(rune('0'+r.line)))
			}
		}
		if strings.Join(got, " ") != tc.line {
			t.Errorf("%s: defined in lines %v, want %q:\n%s", tc.language, got, tc.line, tc.text)
		}
	}
}
