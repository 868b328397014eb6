package catalog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"codesage"
)

// Resolve finds the repository that a caller named by id, by name, or by the
// host and path of its URL. It reads as the contract's section "Resolving the
// repository argument": digits are an id and never a name; names are compared
// without case; several matches are an error that lists them.
func (c *Catalog) Resolve(ctx context.Context, text string) (codesage.Repository, error) {
	wanted := strings.TrimSpace(text)
	all, err := c.store.ListRepositories(ctx)
	if err != nil {
		return codesage.Repository{}, fmt.Errorf("list repositories: %w", err)
	}
	if allDigits(wanted) {
		id, err := strconv.ParseInt(wanted, 10, 64)
		if i := slices.IndexFunc(all, func(r codesage.Repository) bool { return int64(r.ID) == id }); err == nil && i >= 0 {
			return all[i], nil
		}
		return codesage.Repository{}, notFound(wanted, all)
	}
	var matches []codesage.Repository
	for _, r := range all {
		if answersTo(r, strings.ToLower(wanted)) {
			matches = append(matches, r)
		}
	}
	switch len(matches) {
	case 0:
		return codesage.Repository{}, notFound(wanted, all)
	case 1:
		return matches[0], nil
	}
	candidates := make([]string, len(matches))
	for i, r := range matches {
		candidates[i] = fmt.Sprintf("%s (id %d)", r.Name, r.ID)
	}
	return codesage.Repository{}, codesage.Errorf(codesage.KindInvalid,
		"Repository '%s' is ambiguous: %s. Use the numeric ID.", wanted, strings.Join(candidates, ", "))
}

// Ready is Resolve for the tools that read an index: it refuses a repository
// that has none yet and returns the snapshot to read.
func (c *Catalog) Ready(ctx context.Context, text string) (codesage.Repository, codesage.Snapshot, error) {
	r, err := c.Resolve(ctx, text)
	if err != nil {
		return r, codesage.Snapshot{}, err
	}
	s, ok := r.Snapshot()
	if ok {
		return r, s, nil
	}
	if r.Status() == codesage.StatusFailed {
		reason := ""
		if m := r.ErrorMessage(); m != "" {
			reason = ": " + m
		}
		return r, s, codesage.Errorf(codesage.KindConflict,
			"Repository '%s' failed to index%s. Reprocess it from the dashboard", r.Name, reason)
	}
	counted := ""
	if n := r.Counted(); n.TotalFiles > 0 {
		counted = fmt.Sprintf(" (%d/%d files)", n.ProcessedFiles, n.TotalFiles)
	}
	return r, s, codesage.Errorf(codesage.KindConflict,
		"Repository '%s' is still indexing%s; try again when it completes", r.Name, counted)
}

// Scope returns the published snapshots of every repository, by id.
func (c *Catalog) Scope(ctx context.Context) ([]codesage.Snapshot, error) {
	all, err := c.store.ListRepositories(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	var scope []codesage.Snapshot
	for _, r := range all {
		if s, ok := r.Snapshot(); ok {
			scope = append(scope, s)
		}
	}
	return scope, nil
}

// answersTo reports whether a repository goes by a lower-cased name: its own,
// host/path, the path alone on github.com, or the whole URL.
func answersTo(r codesage.Repository, wanted string) bool {
	if strings.ToLower(r.Name) == wanted {
		return true
	}
	if r.URL == "" {
		return false
	}
	url := strings.ToLower(r.URL)
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
	return wanted == url || wanted == host+"/"+path || host == "github.com" && wanted == path
}

func notFound(wanted string, all []codesage.Repository) error {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.Name
	}
	slices.Sort(names)
	available := strings.Join(names, ", ")
	if available == "" {
		available = "none indexed yet"
	}
	return codesage.Errorf(codesage.KindNotFound, "Repository '%s' not found. Available repositories: %s", wanted, available)
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
