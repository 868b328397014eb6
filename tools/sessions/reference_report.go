package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codesage"
	"codesage/tools"
)

// report is an answer of find_references in the making.
type report struct {
	session session
	wanted  wanted
	disk    *disk
	found   []reference // those to show, best first
	total   int         // references in all
	missing int         // files that are gone from disk
}

// dropMissing leaves out the files that are gone.
func (r *report) dropMissing() {
	exists := map[string]bool{}
	r.found = slices.DeleteFunc(r.found, func(f reference) bool {
		there, known := exists[f.file.Path]
		if !known {
			there = !r.disk.isGone(f.file.Path)
			exists[f.file.Path] = there
			if !there {
				r.missing++
			}
		}
		return !there
	})
}

// reportReferences prints a report.
func (s *set) reportReferences(ctx context.Context, r *report) (string, error) {
	indexed := s.stamp(r.session.indexedAt(), secondTime)
	if len(r.found) == 0 {
		return fmt.Sprintf("No references found for %s\n\nSession last indexed: %s\n%s", code(r.wanted.symbol), indexed, r.skipped()), nil
	}
	lines := map[string]*codesage.LineIndex{}
	var b strings.Builder
	fmt.Fprintf(&b, "## References to %s (%d found)\n\n", code(r.wanted.symbol), len(r.found))
	levels := r.levels()
	for i, name := range levelNames {
		if len(levels[i]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "### %s Confidence (%d)\n\n", name, len(levels[i]))
		for _, f := range levels[i] {
			if lines[f.file.Path] == nil {
				text, err := s.Store.File(ctx, r.session.snapshot, f.file.Path)
				if err != nil {
					return "", fmt.Errorf("read %s of session %s: %w", f.file.Path, r.session.Session, err)
				}
				lines[f.file.Path] = codesage.NewLineIndex(text.Text)
			}
			r.reference(&b, f, lines[f.file.Path])
		}
	}
	b.WriteString("---\n\n**Summary:**\n")
	for i, name := range levelNames {
		fmt.Fprintf(&b, "- %s confidence: %d references\n", name, len(levels[i]))
	}
	fmt.Fprintf(&b, "- Total files: %d\n- Session indexed: %s\n", len(pathsOf(r.found)), indexed)
	if more := r.total - len(r.found); more > 0 {
		fmt.Fprintf(&b, "- Not shown: %d more references (raise max_results)\n", more)
	}
	b.WriteString(r.skipped())
	if high := pathsOf(levels[0]); len(high) > 0 {
		b.WriteString("\n**Files to update:**\n")
		for _, path := range high {
			fmt.Fprintf(&b, "- %s\n", code(path))
		}
	}
	return b.String(), nil
}

// levelNames names the levels of confidence, highest first.
var levelNames = [3]string{"High", "Medium", "Low"}

func (r *report) levels() (levels [3][]reference) {
	for _, f := range r.found {
		switch {
		case f.confidence >= highLevel:
			levels[0] = append(levels[0], f)
		case f.confidence >= mediumLevel:
			levels[1] = append(levels[1], f)
		default:
			levels[2] = append(levels[2], f)
		}
	}
	return levels
}

// skipped is the line about files that are gone.
func (r *report) skipped() string {
	if r.missing == 0 {
		return ""
	}
	return fmt.Sprintf("- Skipped: %d files missing on disk\n", r.missing)
}

// maxContextLine is how many bytes of a line are shown.
const maxContextLine = 120

// reference prints one reference with the lines around it.
func (r *report) reference(b *strings.Builder, f reference, x *codesage.LineIndex) {
	var lines strings.Builder
	for n := max(1, f.line-r.wanted.around); n <= min(x.Lines(), f.line+r.wanted.around); n++ {
		line := x.Text(n)
		if len(line) > maxContextLine {
			line = cutBytes(line, maxContextLine-3) + "..."
		}
		lines.WriteString(numberedLine(n, line) + "\n")
	}
	fmt.Fprintf(b, "#### %s:%d\n%s\n", tools.OneLine(f.path), f.line, fenced(f.file.Language, lines.String()))
	fmt.Fprintf(b, "- **Pattern:** %s\n- **Confidence:** %d.%02d\n", f.pattern, f.confidence/100, f.confidence%100)
	if f.defines || defines(f.file.Language, r.wanted.symbol, x, f.line, f.text) {
		b.WriteString("- **Definition:** yes\n")
	}
	if r.disk.state(f.file) == changed {
		b.WriteString("- " + changedNote + "\n")
	}
	b.WriteString("\n")
}

// pathsOf returns the paths of references, each once, sorted.
func pathsOf(refs []reference) []string {
	paths := make([]string, len(refs))
	for i, r := range refs {
		paths[i] = r.path
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
