package sessions

import (
	"context"
	"fmt"
	"strings"

	"codesage"
	"codesage/tools"
)

var getConfig = tools.Spec{
	Name:        "get_config",
	Description: "Show the configuration that holds: how folders are indexed, where the index lies, limits.",
	Arguments: tools.Schema{Title: "GetConfigArgs", Fields: []tools.Field{
		{Name: "detailed", Type: tools.Boolean, Default: false, Description: "List the patterns too"},
	}},
}

func (s *set) getConfig(_ context.Context, a tools.Arguments) (string, error) {
	set := s.Settings
	include, exclude := []string{defaultInclude}, set.DefaultExclude
	var b strings.Builder
	fmt.Fprintf(&b, "# CodeSage MCP Configuration\n\n## Logging\n- **Log Level:** %s\n", set.LogLevel)
	fmt.Fprintf(&b, "\n## Indexing\n- **Chunk Size:** %d chars\n- **Overlap:** %d chars\n", codesage.DefaultChunkSize, codesage.DefaultOverlap)
	fmt.Fprintf(&b, "- **Max File Size:** %d MB\n", set.MaxFileBytes>>20)
	fmt.Fprintf(&b, "- **Include Patterns:** %d patterns\n- **Exclude Patterns:** %d patterns\n", len(include), len(exclude))
	fmt.Fprintf(&b, "\n## Storage\n- **Index Directory:** %s\n", s.IndexDir)
	fmt.Fprintf(&b, "\n## Search\n- **Default K:** %d\n- **Max K:** %d\n- **Max Query Length:** %d\n", defaultK, maxK, maxQueryLength)
	fmt.Fprintf(&b, "\n## Limits\n- **Max Concurrent Indexes:** %d\n- **Request Timeout:** %ds\n", set.Concurrency, int(set.Timeout.Seconds()))
	if a.Bool("detailed") {
		listPatterns(&b, "Include Patterns", include)
		listPatterns(&b, "Exclude Patterns", exclude)
	}
	return b.String(), nil
}

func listPatterns(b *strings.Builder, heading string, patterns []string) {
	fmt.Fprintf(b, "\n## %s\n", heading)
	for _, p := range patterns {
		fmt.Fprintf(b, "- %s\n", code(p))
	}
}
