package mcp

import (
	"fmt"
	"strings"

	"codesage/tools"
)

// The names of toolsets.
const (
	ToolsetRepositories = "repositories"
	ToolsetSessions     = "sessions"
	ToolsetAll          = "all"
)

// NameInAll is the name that a session tool has in the toolset `all`, where
// search_code is the repository tool.
func NameInAll(sessionTool string) string {
	if sessionTool == "search_code" {
		return "search_chunks"
	}
	return sessionTool
}

// InAll returns a session tool as the toolset `all` shows it: under its name
// there, and naming others by theirs.
func InAll(s tools.Spec) tools.Spec {
	s.Name = NameInAll(s.Name)
	s.Description = strings.ReplaceAll(s.Description, "search_code", NameInAll("search_code"))
	return s
}

// SessionAliases are further names of session tools, which lists don't show.
var SessionAliases = map[string]string{"show_shebe_config": "get_config"}

// UnknownTool answers a call of a tool that a toolset doesn't have: a tool error
// that lists what there is, or for the session tools the JSON-RPC error of
// their contract.
func UnknownTool(toolset, name string, specs []tools.Spec) (Result, error) {
	if toolset == ToolsetSessions {
		return Result{}, Errorf(CodeInvalidRequest, "Tool not found: %s", tools.OneLine(name))
	}
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	return Result{Failed: true, Text: fmt.Sprintf("Unknown tool '%s'. Available tools: %s", tools.OneLine(name), strings.Join(names, ", "))}, nil
}

// SessionFault words a bad argument of a session tool.
func SessionFault(f tools.Fault) string {
	if f.Type == "missing" && len(f.Loc) == 1 {
		return fmt.Sprintf("missing field `%s`", f.Loc[0])
	}
	return "Invalid params: " + tools.OneLine(f.Text())
}

// The resources. That of a repository's files can be read and is not listed.
const (
	RepositoriesURI = "codesage://repositories"
	JSONType        = "application/json"
)

// Resources are those that lists show, on every door.
var Resources = []Resource{{
	URI: RepositoriesURI, Name: "Repositories", Description: "Indexed repositories and their status", MIMEType: JSONType,
}}

// ResourceNotFound words a resource that isn't there; the verb takes the reason.
const ResourceNotFound = "Resource or repository not found: %s"
