package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"codesage"
	"codesage/search/query"
	"codesage/tools"
)

// Limits of list_dir.
const (
	defaultListed = 100
	maxListed     = 500
)

var listDir = tools.Spec{
	Name: "list_dir",
	Description: "List the files of a session with their numbers of chunks. At most 500 a call (a higher limit counts as 500); " +
		"when there are more, call again with offset = the number of files shown so far, or narrow with find_file and a glob such as *.{go,md}.",
	Arguments: tools.Schema{Title: "ListDirArgs", Fields: []tools.Field{
		sessionField(),
		{Name: "limit", Type: tools.Integer, Nullable: true, Default: defaultListed, Description: "Files at most, 1-500", Min: tools.Limit(1)},
		{Name: "sort", Type: tools.String, Nullable: true, Default: "alpha", Description: "Order: alpha (path), size (largest first) or indexed",
			Enum: []string{"alpha", "size", "indexed"}, Advisory: true},
		offsetField(),
	}},
}

// offsetField is the argument that pages through a list.
func offsetField() tools.Field {
	return tools.Field{Name: "offset", Type: tools.Integer, Nullable: true, Default: 0, Description: "Files to leave out first, to see the next ones", Min: tools.Limit(0)}
}

// sortWords says how a list is sorted.
var sortWords = map[string]string{"alpha": "alphabetically sorted", "size": "largest first", "indexed": "index order"}

func (s *set) listDir(ctx context.Context, a tools.Arguments) (string, error) {
	order := a.String("sort")
	if sortWords[order] == "" {
		return "", failf(invalidParams, "Invalid sort order: '%s'. Must be 'alpha', 'size', or 'indexed'.", echo(order))
	}
	x, err := s.open(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	files, err := s.files(ctx, x)
	if err != nil {
		return "", err
	}
	sortFiles(files, order)
	limit, _ := a.Int("limit")
	offset, _ := a.Int("offset")
	p := page{total: len(files), from: min(offset, len(files))}
	files = files[p.from:]
	files = files[:min(limit, maxListed, len(files))]
	p.to = p.from + len(files)
	table, err := s.chunkTable(ctx, x, files)
	if err != nil {
		return "", err
	}
	return p.listing(x, order, offset, table), nil
}

// sortFiles orders files that come in path order.
func sortFiles(files []codesage.File, order string) {
	slices.SortStableFunc(files, func(a, b codesage.File) int {
		switch order {
		case "size":
			return cmp.Compare(b.Size, a.Size)
		case "indexed":
			return cmp.Compare(a.ID, b.ID)
		}
		return 0
	})
}

// chunkTable is a table of files with their numbers of chunks.
func (s *set) chunkTable(ctx context.Context, x session, files []codesage.File) (string, error) {
	chunks := make(map[string]int, len(files))
	for _, f := range files {
		chunks[f.Path] = 0
	}
	accept := func(path string) bool { _, ok := chunks[path]; return ok }
	hits, _, err := s.Index.SearchChunks(ctx, x.snapshot, query.PathFunc{Name: "listed", Accept: accept}, allChunks)
	if err != nil {
		return "", s.searchError(x, err)
	}
	for _, h := range hits {
		chunks[h.Path]++
	}
	var b strings.Builder
	b.WriteString("| File Path | Chunks |\n|-----------|--------|\n")
	for _, f := range files {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(code(x.path(f.Path)), "|", escapedBar), count(chunks[f.Path]))
	}
	return b.String(), nil
}

// escapedBar is a bar that does not end the cell of a table.
const escapedBar = `\|`

// allChunks asks for every chunk of the files that a query names.
const allChunks = 1 << 30

// page is a piece of a list: those after from, up to to.
type page struct{ from, to, total int }

// shown is how many are shown: "5", or "101-200" when some are left out before.
func (p page) shown() string {
	if p.from == 0 || p.to == p.from {
		return count(p.to - p.from)
	}
	return count(p.from+1) + "-" + count(p.to)
}

// listing is the answer of list_dir.
func (p page) listing(x session, order string, offset int, table string) string {
	head := fmt.Sprintf("**Session:** %s\n**Files:** %s (showing %s)\n\n", x.Session, count(p.total), p.shown())
	switch {
	case p.total == 0:
		return head + "No files found in this session."
	case p.from == p.to:
		return head + fmt.Sprintf("No files at offset %d.", offset)
	case p.to == p.total:
		return head + table
	}
	which := fmt.Sprintf("first %s", count(p.to))
	if p.from > 0 {
		which = fmt.Sprintf("files %s", p.shown())
	}
	var b strings.Builder
	b.WriteString("WARNING: OUTPUT TRUNCATED - MAXIMUM 500 FILES DISPLAYED\n\n")
	fmt.Fprintf(&b, "Showing: %s of %s files (%s, %s)\n", count(p.to-p.from), count(p.total), which, sortWords[order])
	b.WriteString("Reason: Maximum display limit is 500 files (MCP 25k token limit)\n")
	fmt.Fprintf(&b, "Not shown: %s files\n\nSUGGESTIONS:\n", count(p.total-(p.to-p.from)))
	fmt.Fprintf(&b, "- Use `find_file` with patterns to filter: find_file(session=\"%s\", pattern=\"*.yaml\")\n", x.Session)
	fmt.Fprintf(&b, "- Use `offset` to see the next files: list_dir(session=\"%s\", sort=\"%s\", offset=%d)\n", x.Session, order, p.to)
	if x.Source == codesage.SourceFolder {
		fmt.Fprintf(&b, "- For full file list, use bash: find %s -type f | sort\n", shellWord(x.Repository.Path))
	}
	fmt.Fprintf(&b, "\n---\n\n**Files %s-%s (of %s total):**\n\n%s", count(p.from+1), count(p.to), count(p.total), table)
	return b.String()
}
