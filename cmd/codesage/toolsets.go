package main

import (
	"strings"
	"time"

	"codesage/mcp"
	"codesage/pipeline/source/pattern"
	"codesage/tools"
	"codesage/tools/repositories"
	"codesage/tools/sessions"
)

// slowTool is how long the bridge waits for a tool that indexes.
const slowTool = 300 * time.Second

// repositories returns the toolset that works on indexed repositories.
func (p *parts) repositories() tools.Set {
	return repositories.New(repositories.Deps{
		Catalog: p.catalog,
		Store:   p.store,
		Engine:  p.engine,
		Texts:   p.texts(),
		Link:    link,
		Log:     p.log,
	})
}

// sessions returns the toolset that works on sessions.
func (p *parts) sessions() tools.Set {
	return sessions.New(sessions.Deps{
		Catalog:  p.catalog,
		Store:    p.store,
		Index:    p.texts(),
		Glob:     glob,
		IndexDir: indexDir(p.config.DataDir),
		Name:     p.config.ServerName,
		Version:  p.config.ServerVersion,
		Protocol: mcp.LatestProtocol,
		Settings: sessions.Settings{
			LogLevel:       strings.ToLower(p.config.LogLevel.String()),
			MaxFileBytes:   folderMaxFileBytes,
			DefaultExclude: pattern.DefaultExclude(),
			Concurrency:    p.config.WorkerConcurrency,
			Timeout:        slowTool,
		},
		Log: p.log,
	})
}

// glob compiles a pattern of the session tools. Its error says what is wrong and
// where; the tool names the pattern.
func glob(text string) (func(path string) bool, error) {
	compiled, err := pattern.Compile(text)
	if err != nil {
		return nil, err
	}
	return compiled.Match, nil
}
