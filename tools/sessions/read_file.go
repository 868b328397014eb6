package sessions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"codesage"
	"codesage/search"
	"codesage/store"
	"codesage/tools"
)

// maxRead is how many characters one call of read_file shows.
const maxRead = 20_000

var readFile = tools.Spec{
	Name: "read_file",
	Description: "Read an indexed file as it was indexed, at most 20,000 characters a call. " +
		"start_line and end_line choose lines, also of a longer file.",
	Arguments: tools.Schema{Title: "ReadFileArgs", Ignored: []string{"max_size_kb"}, Fields: []tools.Field{
		sessionField(),
		filePathField(),
		{Name: "start_line", Type: tools.Integer, Nullable: true, Description: "First line to show, from 1", Min: tools.Limit(1)},
		{Name: "end_line", Type: tools.Integer, Nullable: true, Description: "Last line to show; the end of the file when left out", Min: tools.Limit(1)},
	}},
}

func filePathField() tools.Field {
	return tools.Field{Name: "file_path", Type: tools.String, Required: true, MinLength: 1, Advisory: true,
		Description: "Path of an indexed file: absolute, as results show it, or relative to the repository"}
}

func (s *set) readFile(ctx context.Context, a tools.Arguments) (string, error) {
	path := a.String("file_path")
	if strings.TrimSpace(path) == "" {
		return "", failf(invalidParams, "file_path cannot be empty")
	}
	x, err := s.open(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	f, err := s.file(ctx, x, path)
	if errors.Is(err, errNotIndexed) {
		return "", failf(invalidRequest, "File '%s' not indexed in session '%s'. Check file_path or re-index the session.", echo(path), x.Session)
	}
	if err != nil {
		return "", err
	}
	d := x.disk()
	defer d.close()
	state := d.state(f.File)
	if state == gone {
		return "", failf(invalidRequest, "File not found: %s. File may have been deleted since indexing. Try re-indexing the session.", x.path(f.Path))
	}
	r := reading{session: x, Text: f, note: noteOf(state), search: tools.NameOf(ctx, "search_code")}
	start, hasStart := a.Int("start_line")
	end, hasEnd := a.Int("end_line")
	if hasStart || hasEnd {
		return r.lines(max(start, 1), end)
	}
	return r.whole(), nil
}

// noteOf is the line about a file that changed, or nothing.
func noteOf(s state) string {
	if s == changed {
		return changedNote + "\n"
	}
	return ""
}

// reading is a file on its way into an answer.
type reading struct {
	session session
	store.Text
	note   string
	search string // name of the tool that searches
}

// head is the lines that say what file it is.
func (r reading) head() string {
	label := r.Language
	if label == "" {
		label = "text"
	}
	return fmt.Sprintf("**File:** %s\n**Session:** `%s`\n**Size:** %s (%d lines)\n**Language:** %s\n",
		code(r.session.path(r.Path)), r.session.Session, byteSize(int64(len(r.Text.Text))), r.Lines, label)
}

// whole shows the file, or as much of it as one call shows.
func (r reading) whole() string {
	total := utf8.RuneCountInString(r.Text.Text)
	if total <= maxRead {
		return r.head() + r.note + "\n" + fenced(r.Language, shown(r.Text.Text))
	}
	first := search.FirstChars(r.Text.Text, maxRead)
	path := r.session.path(r.Path)
	var b strings.Builder
	fmt.Fprintf(&b, "WARNING: FILE TRUNCATED - SHOWING FIRST %d CHARACTERS\n\n", maxRead)
	fmt.Fprintf(&b, "Showing: Characters 1-%d of %d total (%.1f%%)\n", maxRead, total, 100*float64(maxRead)/float64(total))
	fmt.Fprintf(&b, "Reason: Maximum display limit is %d characters (MCP 25k token limit)\n", maxRead)
	fmt.Fprintf(&b, "Not shown: %d characters\n\nSUGGESTIONS:\n", total-maxRead)
	fmt.Fprintf(&b, "- Use `%s` to find specific content in this file\n- Use `preview_chunk` to view specific sections\n", r.search)
	b.WriteString(r.readOn(first))
	if r.session.Source == codesage.SourceFolder {
		fmt.Fprintf(&b, "- For full file, use bash: cat %s\n", shellWord(path))
	}
	fmt.Fprintf(&b, "\n---\n\n**File:** %s\n**Showing:** First %d characters (~%d lines)\n%s\n%s",
		code(path), maxRead, codesage.CountLines(first), r.note, fenced(r.Language, shown(first)))
	return b.String()
}

// readOn says how to see what follows the first part of the file: from the line
// that is not whole in it, or after that line when it is the first one.
func (r reading) readOn(first string) (lines string) {
	next := codesage.CountLines(first)
	if strings.HasSuffix(first, "\n") {
		next++
	}
	if next == 1 {
		lines = fmt.Sprintf("- Line 1 alone is longer than %d characters\n", maxRead)
		next++
	}
	if next > r.Lines {
		return lines
	}
	return lines + fmt.Sprintf("- Use `start_line` and `end_line` to read on: read_file(session=%q, file_path=%s, start_line=%d)\n",
		r.session.Session, strconv.Quote(r.session.path(r.Path)), next)
}

// lines shows lines of the file, whole ones, as many as one call shows. end 0 is
// the last line.
func (r reading) lines(start, end int) (string, error) {
	x := codesage.NewLineIndex(r.Text.Text)
	total := x.Lines()
	switch {
	case end > 0 && end < start:
		return "", badValue("end_line", "Input should be greater than or equal to start_line")
	case total == 0 && start == 1:
		return r.head() + "**Lines:** none, the file is empty\n" + r.note + "\n" + fenced(r.Language, ""), nil
	case total == 0:
		return "", badValue("start_line", "the file is empty")
	case start > total:
		return "", badValue("start_line", "Input should be less than or equal to %d, the lines of the file", total)
	case end == 0 || end > total:
		end = total
	}
	var text strings.Builder
	last, rest := start, 0
	for left := maxRead; last <= end; last++ {
		line := r.Text.Text[x.Start(last):x.Start(last+1)]
		if left -= utf8.RuneCountInString(line); left < 0 && last > start {
			break
		}
		rest = max(0, utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))-maxRead)
		text.WriteString(search.FirstChars(line, maxRead))
	}
	last--
	more := ""
	if rest > 0 {
		more = fmt.Sprintf("**Not shown:** %d characters of line %d, which alone is longer than %d\n", rest, last, maxRead)
	}
	if last < end {
		more += fmt.Sprintf("**Not shown:** lines %d-%d; read on with start_line=%d\n", last+1, end, last+1)
	}
	return r.head() + fmt.Sprintf("**Lines:** %d-%d\n", start, last) + more + r.note + "\n" + fenced(r.Language, shown(text.String())), nil
}
