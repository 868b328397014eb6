package api

import (
	"context"
	"maps"

	"github.com/gin-gonic/gin"

	"codesage/mcp"
	"codesage/tools"
)

// toolset is what one value of ?toolset= serves.
type toolset struct {
	name    string
	tools   []servedTool
	aliases map[string]string // names that lists don't show
}

// servedTool is a tool of a toolset. Session tools answer every failure, also a
// bad argument, in the envelope.
type servedTool struct {
	tools.Tool
	session bool
}

// find returns the tool that a call names.
func (t toolset) find(name string) (servedTool, bool) {
	if real, ok := t.aliases[name]; ok {
		name = real
	}
	for _, tool := range t.tools {
		if tool.Name == name {
			return tool, true
		}
	}
	return servedTool{}, false
}

// specs lists the tools as clients see them.
func (t toolset) specs() []tools.Spec {
	specs := make([]tools.Spec, len(t.tools))
	for i, tool := range t.tools {
		specs[i] = tool.Spec
	}
	return specs
}

// newToolsets makes the toolsets that callers can choose.
func newToolsets(sets []tools.Set) map[string]toolset {
	made := map[string]toolset{}
	all := toolset{name: mcp.ToolsetAll, aliases: map[string]string{}}
	for _, set := range sets {
		one := toolset{name: set.Name, aliases: map[string]string{}}
		session := set.Name == mcp.ToolsetSessions
		if session {
			maps.Copy(one.aliases, mcp.SessionAliases)
			maps.Copy(all.aliases, mcp.SessionAliases)
		}
		for _, t := range set.Tools {
			one.tools = append(one.tools, servedTool{t, session})
			if session {
				t = inAll(t)
			}
			all.tools = append(all.tools, servedTool{t, session})
		}
		made[set.Name] = one
	}
	made[mcp.ToolsetAll] = all
	return made
}

// inAll is a session tool of the toolset `all`, where others have other names.
func inAll(t tools.Tool) tools.Tool {
	call := t.Call
	return tools.Tool{Spec: mcp.InAll(t.Spec), Call: func(ctx context.Context, a tools.Arguments) (any, error) {
		return call(tools.WithNames(ctx, mcp.NameInAll), a)
	}}
}

// toolsetNames lists the values of ?toolset= in the order of the error.
var toolsetNames = []string{mcp.ToolsetRepositories, mcp.ToolsetSessions, mcp.ToolsetAll}

// toolset returns the set that the query asks for, and answers 422 when there
// is none of that name.
func (s *server) toolset(c *gin.Context) (toolset, bool) {
	schema := tools.Schema{Fields: []tools.Field{{
		Name: "toolset", Type: tools.String, Default: mcp.ToolsetRepositories, Enum: toolsetNames,
	}}}
	args, ok := query(c, schema)
	if !ok {
		return toolset{}, false
	}
	name := args.String("toolset")
	set, ok := s.sets[name]
	if !ok {
		set = toolset{name: name}
	}
	return set, true
}
