package language

import (
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, content, want string }{
		{"a.py", "", "python"}, {"a.pyi", "", "python"},
		{"a.js", "", "javascript"}, {"a.mjs", "", "javascript"}, {"a.cjs", "", "javascript"}, {"a.jsx", "", "javascript"},
		{"a.ts", "", "typescript"}, {"a.tsx", "", "typescript"}, {"a.mts", "", "typescript"}, {"a.cts", "", "typescript"}, {"a.d.ts", "", "typescript"},
		{"a.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n", "xml"},
		{"A.java", "", "java"}, {"a.go", "", "go"}, {"a.rs", "", "rust"},
		{"a.cpp", "", "cpp"}, {"a.cc", "", "cpp"}, {"a.hpp", "", "cpp"}, {"a.c", "", "c"}, {"a.cs", "", "csharp"},
		{"a.php", "", "php"}, {"a.rb", "", "ruby"}, {"Gemfile", "", "ruby"}, {"Rakefile", "", "ruby"},
		{"a.kt", "", "kotlin"}, {"build.gradle.kts", "", "kotlin"}, {"a.swift", "", "swift"}, {"a.scala", "", "scala"},
		{"a.sh", "", "bash"}, {"a.bash", "", "bash"}, {".bashrc", "", "bash"}, {"bin/run", "#!/usr/bin/env bash\n", "bash"}, {"bin/run", "#!/bin/sh\n", "bash"},
		{"bin/tool", "#!/usr/bin/env python3\n", "python"}, {"bin/tool", "#!/usr/bin/node\n", "javascript"},
		{"a.lua", "", "lua"}, {"a.ex", "", "elixir"}, {"a.exs", "", "elixir"}, {"a.sql", "", "sql"},
		{"a.html", "", "html"}, {"a.css", "", "css"}, {"a.scss", "", "scss"}, {"a.vue", "", "vue"}, {"a.svelte", "", "svelte"},
		{"a.json", "", "json"}, {"tsconfig.json", "", "json"}, {"package.json", "", "json"}, {"a.yaml", "", "yaml"}, {".github/a.yml", "", "yaml"},
		{"a.toml", "", "toml"}, {"Cargo.lock", "", "toml"}, {"a.xml", "", "xml"}, {"pom.xml", "", "xml"}, {"a.ini", "", "ini"}, {"setup.cfg", "", "ini"},
		{"Dockerfile", "", "dockerfile"}, {"Dockerfile.dev", "", "dockerfile"}, {"a.dockerfile", "", "dockerfile"}, {"Containerfile", "", "dockerfile"},
		{"Makefile", "", "makefile"}, {"GNUmakefile", "", "makefile"}, {"a.mk", "", "makefile"}, {"Makefile.am", "", "makefile"},
		{"a.proto", "", "protobuf"}, {"a.graphql", "", "graphql"}, {"a.tf", "", "terraform"}, {"a.tfvars", "", "terraform"}, {"a.hcl", "", "hcl"},
		{"a.md", "", "markdown"}, {"README.md", "", "markdown"}, {"a.rst", "", "rst"}, {"a.txt", "", "text"}, {"LICENSE", "", "text"},
		{"CMakeLists.txt", "", "cmake"}, {"go.mod", "", "go-module"}, {"a.r", "", "r"}, {"a.erl", "", "erlang"}, {"a.zig", "", "zig"},
		{"a.pl", "use strict;\nuse warnings;\nmy $x = 1;\n", "perl"},
		{"a.m", "#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", "objective-c"},
		{"a.m", "function y = f(x)\n% doubles\ny = 2 * x;\nend\n", "matlab"},
		{"a.cls", "\\ProvidesClass{a}\n\\RequirePackage{b}\n", "tex"},
		{"a.d", "module a;\nimport std.stdio;\nvoid main() { writeln(\"x\"); }\n", "d"},
		{"a.v", "module m(input a, output b);\nassign b = ~a;\nendmodule\n", "verilog"},
		{"a.s", "\t.text\n\t.globl main\nmain:\n\tmovl $1, %eax\n\tret\n", "assembly"},
		{"a.unknown", "", "text"}, {"a.unknown", "#!/bin/sh\n", "bash"}, {"what", "some words", "text"}, {"", "", "text"},
		{"weird.GO", "", "go"}, {"d.go/x", "", "text"},
	} {
		if got := Detect(tc.path, []byte(tc.content)); got != tc.want {
			t.Errorf("Detect(%q, %.30q) = %q, want %q", tc.path, tc.content, got, tc.want)
		}
	}
}

func TestHeaderIsToldByItsContent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, content, want string }{
		{"empty", "", "c"},
		{"C", "#ifndef A_H\n#define A_H\n#include <stdio.h>\nstruct a { int x; };\nint f(struct a *a);\n#endif\n", "c"},
		{"C for C++ too", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n} // namespace\n#endif\n", "c"},
		{"C++ words in comments", "/* class A of std::string,\nnamespace b */\n// template <class T>\nint f(void);\n", "c"},
		{"a C struct with a field named class", "struct a { int class; };\n", "c"},
		{"class", "#pragma once\nclass A {\npublic:\n  int x;\n};\n", "cpp"},
		{"namespace", "namespace a {\nint f();\n}\n", "cpp"},
		{"template", "template <typename T> T f(T t);\n", "cpp"},
		{"std", "void f(const std::string& s);\n", "cpp"},
		{"header of C++", "#include <vector>\nint f();\n", "cpp"},
		{"Objective-C", "#import <UIKit/UIKit.h>\n@interface A : UIView\n@end\n", "objective-c"},
		{"Objective-C protocol", "@protocol P <NSObject>\n- (void)f;\n@end\n", "objective-c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := Detect("a.h", []byte(tc.content)); got != tc.want {
				t.Errorf("Detect = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a.go": true, "a.txt": true, "LICENSE": true, "README": true, "a.unknown": false, "what": false, "a.json": true, "man/a.1": true,
	} {
		if got := Known(path, nil); got != want {
			t.Errorf("Known(%q) = %v, want %v", path, got, want)
		}
	}
	if !Known("run", []byte("#!/bin/sh\n")) {
		t.Error("a script without an ending is not known")
	}
}

func TestByNameNeedsNoContent(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"a.h": "c", "d/Makefile": "makefile", "a.tsx": "typescript", "a.unknown": "", "run": ""} {
		if got, ok := ByName(path); got != want || ok != (want != "") {
			t.Errorf("ByName(%q) = %q, %v, want %q", path, got, ok, want)
		}
	}
	if _, ok := ByName("a.m"); !ok {
		t.Error("a name that several languages share is not known")
	}
}

func TestEqualsGetTheSameLabelEachTime(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a.q", "a.nu", "a.s", "a.cls", "a.inc", "a.mod"} {
		content := []byte("\x7f\xff \x01 zqzqzq")
		want := Detect(path, content)
		for range 50 {
			if got := Detect(path, content); got != want {
				t.Fatalf("%s is %s and %s", path, want, got)
			}
		}
	}
}

func TestClass(t *testing.T) {
	t.Parallel()
	for kind, labels := range map[Kind]string{
		Source:   "python javascript typescript java go rust cpp c csharp php ruby kotlin swift scala bash lua elixir sql html css scss vue svelte protobuf graphql terraform dockerfile makefile zig objective-c perl groovy vim elisp lisp vbnet",
		Document: "markdown rst text tex asciidoc",
		Data:     "json yaml toml xml ini svg csv jupyter-notebook klingon",
	} {
		for label := range strings.FieldsSeq(labels) {
			if got := Class(label); got != kind {
				t.Errorf("Class(%q) = %d, want %d", label, got, kind)
			}
		}
	}
}

func TestPrimary(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		counts map[string]int64
		want   string
	}{
		{"nothing", nil, ""},
		{"no program", map[string]int64{"markdown": 9, "json": 99}, ""},
		{"most bytes", map[string]int64{"go": 5, "python": 9, "json": 99}, "python"},
		{"style sheets go along", map[string]int64{"css": 90, "html": 80, "typescript": 5}, "typescript"},
		{"only scripts", map[string]int64{"bash": 5, "makefile": 3}, "bash"},
		{"equals", map[string]int64{"rust": 5, "c": 5, "go": 5}, "c"},
		{"zero", map[string]int64{"go": 0}, ""},
	} {
		for range 10 { // maps come in any order
			if got := Primary(tc.counts); got != tc.want {
				t.Errorf("%s: Primary = %q, want %q", tc.name, got, tc.want)
			}
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("a.h", []byte("class A;"))
	f.Add("a.m", []byte("%"))
	f.Add("x", []byte("#!"))
	f.Add("a.xyz", []byte("vim: ft=c"))
	f.Fuzz(func(t *testing.T, path string, content []byte) {
		label := Detect(path, content)
		if label == "" || label != Detect(path, content) || label != strings.ToLower(label) {
			t.Errorf("label %q", label)
		}
		Generated(path, content)
	})
}
