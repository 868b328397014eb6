package sessions_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codesage/tools/sessions"
)

var update = flag.Bool("update", false, "write the snapshots")

// order is the order in which the contract lists the tools.
var order = []string{"search_code", "list_sessions", "get_session_info", "index_repository", "get_server_info", "get_config",
	"list_dir", "read_file", "delete_session", "find_file", "find_references", "preview_chunk", "reindex_session", "upgrade_session"}

func TestSpecsAreTheFourteenToolsInOrder(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range sessions.Specs() {
		names = append(names, s.Name)
		if s.Description == "" || strings.Contains(s.Description, "\n") {
			t.Errorf("%s: description %q", s.Name, s.Description)
		}
		for _, f := range s.Arguments.Fields {
			if f.Description == "" {
				t.Errorf("%s: %s has no description", s.Name, f.Name)
			}
			if !f.Required && f.Type != "boolean" && !f.Nullable {
				t.Errorf("%s: %s refuses null", s.Name, f.Name)
			}
		}
	}
	if diff := cmp.Diff(order, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestSchemasAreTheSnapshots(t *testing.T) {
	t.Parallel()
	for _, s := range sessions.Specs() {
		var got bytes.Buffer
		if err := json.Indent(&got, s.Arguments.JSON(), "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		path := filepath.Join("testdata", "schema", s.Name+".json")
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.Name, diff)
		}
	}
}

// calls are good arguments for each tool, on the fixture.
var calls = map[string]args{
	"search_code":      {"query": "login", "session": "fx"},
	"list_sessions":    {},
	"get_session_info": {"session": "fx"},
	"index_repository": {"session": "fx", "force": true},
	"get_server_info":  {},
	"get_config":       {"detailed": true},
	"list_dir":         {"session": "fx"},
	"read_file":        {"session": "fx", "file_path": "docs/guide.md"},
	"delete_session":   {"session": "fx", "confirm": true},
	"find_file":        {"session": "fx", "pattern": "*.go"},
	"find_references":  {"symbol": "verify", "session": "fx"},
	"preview_chunk":    {"session": "fx", "file_path": "docs/guide.md", "chunk_index": 0},
	"reindex_session":  {"session": "fx", "force": true},
	"upgrade_session":  {"session": "fx"},
}

func TestEveryToolAnswersAndRefusesAlike(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	for _, name := range order {
		if name == "delete_session" {
			continue // last
		}
		everyTool(h, root, name)
	}
	everyTool(h, root, "delete_session")
}

func everyTool(h *house, root, name string) {
	good := args{}
	for k, v := range calls[name] {
		good[k] = v
	}
	if name == "index_repository" {
		good["path"] = root
	}
	tool, _ := h.set.Find(name)
	with := func(field string, value any) args {
		a := args{field: value}
		for k, v := range good {
			if k != field {
				a[k] = v
			}
		}
		return a
	}
	h.refused(-32602, "Invalid params: zz: Extra inputs are not permitted", name, with("zz", 1))
	for _, f := range tool.Arguments.Fields {
		if f.Required {
			a := with(f.Name, nil)
			delete(a, f.Name)
			h.refused(-32602, "missing field `"+f.Name+"`", name, a)
		}
		h.refused(-32602, "Invalid params: "+f.Name+": Input should be ...", name, with(f.Name, args{}))
		if f.Name == "session" && name != "index_repository" {
			h.refused(-32001, "Session not found: none", name, with(f.Name, "none"))
		}
	}
	text := h.call(name, good)
	if text == "" || strings.HasSuffix(text, "\n") || strings.Contains(text, "\r") {
		h.t.Errorf("%s: got %q", name, text)
	}
	if emoji := regexp.MustCompile(`[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}]`).FindString(text); emoji != "" {
		h.t.Errorf("%s: prints %q", name, emoji)
	}
}

func TestServerInfoAndConfigSayWhatHolds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	info := h.call("get_server_info", nil)
	head, list, _ := strings.Cut(info, "## Available Tools\n")
	if !regexp.MustCompile(`^# CodeSage MCP Server Information\n\n## Version\n- \*\*Version:\*\* 1\.2\.3\n- \*\*Go Version:\*\* 1\.\d+\S*\n\n` +
		`## Server Details\n- \*\*Name:\*\* codesage\n- \*\*Description:\*\* BM25 full-text search MCP server\n- \*\*Protocol:\*\* MCP 2025-11-25\n\n$`).MatchString(head) {
		t.Errorf("got %s", head)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^- (\w+): \S`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if len(names) != 14 || strings.Count(list, "\n") != 13 {
		t.Errorf("got tools %v", names)
	}
	for _, name := range names {
		if _, ok := h.set.Find(name); !ok {
			t.Errorf("%s is no tool", name)
		}
	}
	want := "# CodeSage MCP Configuration\n\n## Logging\n- **Log Level:** info\n\n## Indexing\n- **Chunk Size:** 512 chars\n- **Overlap:** 64 chars\n" +
		"- **Max File Size:** 10 MB\n- **Include Patterns:** 1 patterns\n- **Exclude Patterns:** 9 patterns\n\n## Storage\n- **Index Directory:** " + h.indexDir +
		"\n\n## Search\n- **Default K:** 10\n- **Max K:** 100\n- **Max Query Length:** 500\n\n## Limits\n- **Max Concurrent Indexes:** 2\n- **Request Timeout:** 300s"
	if diff := cmp.Diff(want, h.call("get_config", nil)); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	detailed := h.call("get_config", args{"detailed": true})
	if !strings.HasPrefix(detailed, want+"\n\n## Include Patterns\n- `**/*`\n\n## Exclude Patterns\n- `**/target/**`\n") {
		t.Errorf("detailed: %s", detailed)
	}
}

func TestSessionInfo(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	like(t, h.call("get_session_info", args{"session": "fx"}), "# Session: fx\n\n## Overview\n- **Status:** Ready\n- **Repository Path:** "+root+
		"\n- **Files:** 5\n- **Chunks:** 5\n- **Size:** <size>\n- **Created:** <iso>\n- **Last Indexed:** <second>\n\n## Configuration\n- **Chunk size:** 512 chars\n"+
		"- **Overlap:** 64 chars\n- **Include patterns:** **/*\n- **Exclude patterns:** **/target/**, **/node_modules/**, **/.git/**, **/dist/**, **/build/**, **/*.pyc, "+
		"**/__pycache__/**, **/.venv/**, **/venv/**\n\n## Statistics\n- **Avg chunks/file:** 1.00\n- **Avg chunk size:** <size>")
	h.call("index_repository", args{"path": root, "session": "fx", "force": true, "overlap": 0, "exclude_patterns": "[]", "include_patterns": []string{"*.go", "*.md"}})
	info := h.call("get_session_info", args{"session": "fx"})
	if !strings.Contains(info, "- **Overlap:** 0 chars\n- **Include patterns:** *.go, *.md\n- **Exclude patterns:** none\n") || !strings.Contains(info, "- **Files:** 4\n") {
		t.Errorf("got %s", info)
	}
}
