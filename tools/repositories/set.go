// Package repositories is the toolset that works on indexed repositories:
// list_repositories, search_code, get_file, list_definitions,
// analyze_repository, find_patterns and add_repository, one file each.
package repositories

import (
	"context"
	"log/slog"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/search"
	"codesage/search/index"
	"codesage/store"
	"codesage/tools"
)

// Name is the name of the set.
const Name = "repositories"

// texts narrows a scan of all texts. Files that it leaves out can't match what
// the query was made from; all says that the query leaves none out.
type texts interface {
	Candidates(ctx context.Context, s codesage.Snapshot, q index.TriQuery) (paths map[string]struct{}, all bool, err error)
}

// Deps is what the tools work with.
type Deps struct {
	Catalog *catalog.Catalog
	Store   store.Store

	// Engine searches entities; nil when search isn't configured.
	Engine search.Engine

	// Texts makes find_patterns faster, never different; nil to do without.
	Texts texts

	// Link returns the web page of lines of a file at a commit or branch, which
	// may be empty; "" when the host's pages aren't known. Nil = no links.
	Link func(repo codesage.Repository, ref, path string, start, end int) string

	Log *slog.Logger // nil = nothing is logged

	HideAdd bool // leave add_repository out
}

// set holds what the tools share.
type set struct {
	Deps
	fileTime, callTime time.Duration // how long a regular expression may take
}

// New returns the set, its tools in the order in which clients list them.
func New(d Deps) tools.Set {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	s := &set{Deps: d, fileTime: regexFileTime, callTime: regexCallTime}
	return tools.Set{Name: Name, Tools: s.tools()}
}

func (s *set) tools() []tools.Tool {
	list := []tools.Tool{
		{Spec: listRepositories, Call: s.listRepositories},
		{Spec: searchCode, Call: s.searchCode},
		{Spec: getFile, Call: s.getFile},
		{Spec: listDefinitions, Call: s.listDefinitions},
		{Spec: analyzeRepository, Call: s.analyzeRepository},
		{Spec: findPatterns, Call: s.findPatterns},
		{Spec: addRepository, Call: s.addRepository},
	}
	if s.HideAdd {
		list = list[:len(list)-1]
	}
	return list
}

// Specs returns what clients see of the seven tools, for the bridge.
func Specs() []tools.Spec {
	list := New(Deps{}).Tools
	specs := make([]tools.Spec, len(list))
	for i, t := range list {
		specs[i] = t.Spec
	}
	return specs
}

// repositoryField is the argument that names a repository.
func repositoryField() tools.Field {
	return tools.Field{Name: "repository", Type: tools.String, Required: true, Description: repositoryHelp}
}

const repositoryHelp = "Repository ID, name or owner/name; it must be indexed"

// entityTypeField is the filter by entity type.
func entityTypeField(description string) tools.Field {
	names := make([]string, len(codesage.EntityTypes))
	for i, t := range codesage.EntityTypes {
		names[i] = string(t)
	}
	return tools.Field{Name: "entity_type", Type: tools.String, Nullable: true, Enum: names, Description: description}
}

// optional is nil, which JSON shows as null, for an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Limits of texts that results quote, in characters.
const (
	maxSignature   = 300
	maxDescription = 300
	maxSnippet     = 600
	maxLineText    = 300
)

func cut(s string, chars int) string { return search.FirstChars(s, chars) }
