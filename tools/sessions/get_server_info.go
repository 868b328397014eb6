package sessions

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"codesage/tools"
)

var getServerInfo = tools.Spec{
	Name:        "get_server_info",
	Description: "Show the server's version and its tools.",
	Arguments:   tools.Schema{Title: "GetServerInfoArgs"},
}

// purposes says in a few words what each tool is for, in the order of the list.
var purposes = [][2]string{
	{"search_code", "Search indexed code"},
	{"list_sessions", "List all sessions"},
	{"get_session_info", "Get session details"},
	{"index_repository", "Index a repository (synchronous)"},
	{"get_server_info", "Show server version (this tool)"},
	{"get_config", "Show current configuration"},
	{"list_dir", "List all files in session"},
	{"read_file", "Read full file contents from session"},
	{"delete_session", "Delete session and all data"},
	{"find_file", "Find files by pattern (glob/regex)"},
	{"find_references", "Find all references to a symbol"},
	{"preview_chunk", "Show N lines before/after search result chunk"},
	{"reindex_session", "Re-index session using stored repository path"},
	{"upgrade_session", "Upgrade session metadata to latest format"},
}

func (s *set) getServerInfo(ctx context.Context, _ tools.Arguments) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# CodeSage MCP Server Information\n\n## Version\n- **Version:** %s\n", tools.OneLine(s.Version))
	fmt.Fprintf(&b, "- **Go Version:** %s\n", strings.TrimPrefix(runtime.Version(), "go"))
	fmt.Fprintf(&b, "\n## Server Details\n- **Name:** %s\n- **Description:** BM25 full-text search MCP server\n", tools.OneLine(cmp.Or(s.Name, "codesage")))
	if version := cmp.Or(tools.Protocol(ctx), s.Protocol); version != "" {
		fmt.Fprintf(&b, "- **Protocol:** MCP %s\n", version)
	}
	b.WriteString("\n## Available Tools\n")
	for _, p := range purposes {
		fmt.Fprintf(&b, "- %s: %s\n", tools.NameOf(ctx, p[0]), p[1])
	}
	return b.String(), nil
}
