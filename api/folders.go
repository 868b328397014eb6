package api

import (
	"context"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/catalog"
	"codesage/tools"
)

var folderArgs = tools.Schema{Fields: []tools.Field{
	{Name: "path", Type: tools.String, Required: true},
	{Name: "session", Type: tools.String, Required: true},
	{Name: "include_patterns", Type: tools.StringList, Nullable: true},
	{Name: "exclude_patterns", Type: tools.StringList, Nullable: true},
	{Name: "chunk_size", Type: tools.Integer, Nullable: true},
	{Name: "overlap", Type: tools.Integer, Nullable: true},
	{Name: "force", Type: tools.Boolean, Default: false},
	{Name: "refresh", Type: tools.Boolean, Default: false},
}}

// addFolder indexes a local folder: what index_repository does, without waiting.
// With "refresh", a folder that is indexed already is refreshed.
func (s *server) addFolder(c *gin.Context) {
	args, ok := s.bodyArgs(c, folderArgs)
	if !ok {
		return
	}
	repo, faults, err := s.indexFolder(c.Request.Context(), args)
	switch {
	case faults != nil:
		unprocessable(c, within("body", faults)...)
	case err != nil:
		s.fail(c, err)
	default:
		s.created(c, repo)
	}
}

// indexFolder starts to index a folder by arguments of folderArgs. Faults are
// those of the arguments, a path that is no folder among them.
func (s *server) indexFolder(ctx context.Context, args tools.Arguments) (codesage.Repository, []tools.Fault, error) {
	options, faults := s.folderOptions(args)
	if faults != nil {
		return codesage.Repository{}, faults, nil
	}
	repo, _, err := s.Catalog.AddFolder(ctx, catalog.FolderRequest{
		Path: args.String("path"), Session: args.String("session"), Options: options, Force: args.Bool("force"), Refresh: args.Bool("refresh"),
	})
	if kind := codesage.KindOf(err); kind == codesage.KindInvalid || kind == codesage.KindNotFound {
		message, _ := tools.Answer(err)
		return repo, []tools.Fault{fault("value_error", message, args.String("path"), "path")}, nil
	}
	return repo, nil, err
}

// The rules of index_repository for a session id.
var (
	sessionChars = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)
	sessionFirst = regexp.MustCompile(`^[A-Za-z0-9]`)
)

// folderOptions checks the values as index_repository does, in its words.
func (s *server) folderOptions(args tools.Arguments) (codesage.IndexOptions, []tools.Fault) {
	var faults []tools.Fault
	bad := func(field, format string, a ...any) {
		faults = append(faults, fault("value_error", fmt.Sprintf(format, a...), args[field], field))
	}
	session := args.String("session")
	switch n := utf8.RuneCountInString(session); {
	case n < 1 || n > 64:
		bad("session", "Session must be 1-64 characters")
	case !sessionChars.MatchString(session):
		bad("session", "Session must contain only alphanumeric, hyphen, underscore")
	case !sessionFirst.MatchString(session):
		bad("session", "Session must start with alphanumeric character")
	}
	o := codesage.IndexOptions{Include: args.Strings("include_patterns"), Exclude: codesage.Excluding(args.Strings("exclude_patterns"))}
	size := codesage.DefaultChunkSize
	if n, given := args.Int("chunk_size"); given {
		if size = n; n < 100 || n > 2000 {
			bad("chunk_size", "Chunk size must be between 100 and 2000 characters")
		}
		o.ChunkSize = n
	}
	overlap, given := args.Int("overlap")
	switch {
	case !given:
	case overlap < 0 || overlap > 500:
		bad("overlap", "Overlap must not exceed 500 characters")
	case overlap >= size:
		bad("overlap", "overlap (%d) must be less than chunk_size (%d)", overlap, size)
	case overlap == 0:
		o.Overlap = -1 // 0 means the default there
	default:
		o.Overlap = overlap
	}
	for _, list := range []struct{ field, name string }{{"include_patterns", "include"}, {"exclude_patterns", "exclude"}} {
		for _, pattern := range args.Strings(list.field) {
			if s.Glob == nil {
				break
			}
			if _, err := s.Glob(pattern); err != nil {
				bad(list.field, "Configuration error: Invalid %s pattern '%s': %s", list.name, bounded(pattern), err)
			}
		}
	}
	return o, faults
}
