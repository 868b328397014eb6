package parse

import (
	"bytes"
	"strings"

	"codesage"
)

// sections returns the sections of a Markdown text: those of ATX and setext
// headings that stand at the top level, outside of fences, front matter, HTML
// comments and raw HTML. It reads line by line and keeps no nesting, so no text
// can exhaust it.
func sections(text []byte) ([]codesage.Entity, bool) {
	s := reader{text: text}
	s.skipFrontMatter()
	for s.next() {
		s.read()
	}
	return s.entities()
}

// heading is one heading: the place of its first line and what it says.
type heading struct {
	level  int
	line   int
	offset int
	title  string
	text   string // as it stands in the file
}

// reader reads a Markdown text.
type reader struct {
	text     []byte
	pos      int    // first byte behind the line
	number   int    // of the line
	start    int    // of the line
	line     []byte // without line end
	headings []heading

	fence     byte // '`' or '~' inside of a fenced block
	fenceSize int
	html      string // what ends the HTML block
	paragraph heading
	open      bool // a paragraph may still become a setext heading
	lazy      bool // text belongs to a list item or a quote
}

// next moves to the next line.
func (s *reader) next() bool {
	if s.pos >= len(s.text) {
		return false
	}
	s.start, s.number = s.pos, s.number+1
	if i := bytes.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
		s.line, s.pos = s.text[s.pos:s.pos+i], s.pos+i+1
	} else {
		s.line, s.pos = s.text[s.pos:], len(s.text)
	}
	s.line = bytes.TrimRight(s.line, " \t\r")
	if s.number == 1 {
		s.line = bytes.TrimPrefix(s.line, []byte("\uFEFF"))
	}
	return true
}

// skipFrontMatter moves behind a closed block of --- or +++ at the beginning.
func (s *reader) skipFrontMatter() {
	back := *s
	if s.next() && (string(s.line) == "---" || string(s.line) == "+++") {
		for mark := string(s.line); s.next(); {
			if line := string(s.line); line == mark || mark == "---" && line == "..." {
				return
			}
		}
	}
	*s = back
}

// read takes one line in.
func (s *reader) read() {
	body := bytes.TrimLeft(s.line, " ")
	indent := len(s.line) - len(body)
	switch {
	case s.html != "":
		s.endHTML(s.line)
	case s.fence != 0:
		if size := run(body); indent <= 3 && size >= s.fenceSize && size == len(body) && body[0] == s.fence {
			s.fence = 0
		}
	case len(body) == 0:
		s.open, s.lazy = false, false
	case indent > 3 || body[0] == '\t':
		if s.open { // a paragraph goes on, a code block would need a blank line
			s.paragraph.title += " " + string(body)
		}
	default:
		s.block(body)
	}
}

// block takes a line in that begins a block or goes on with a paragraph.
func (s *reader) block(body []byte) {
	size := run(body)
	switch {
	case (body[0] == '`' || body[0] == '~') && size >= 3 && (body[0] == '~' || bytes.IndexByte(body[size:], '`') < 0):
		s.fence, s.fenceSize, s.open = body[0], size, false
	case body[0] == '#' && size <= 6 && (size == len(body) || body[size] == ' ' || body[size] == '\t'):
		s.headings = append(s.headings, heading{size, s.number, s.start, atxTitle(body[size:]), string(body)})
		s.open, s.lazy = false, false
	case s.open && (body[0] == '=' || body[0] == '-') && size == len(body):
		s.paragraph.level = 1
		if body[0] == '-' {
			s.paragraph.level = 2
		}
		s.paragraph.text = s.paragraph.title
		s.headings = append(s.headings, s.paragraph)
		s.open = false
	case startsHTML(body) != "" && !s.open:
		s.html = startsHTML(body)
		s.endHTML(body)
	case startsContainer(body):
		s.open, s.lazy = false, true
	case isBreak(body) || body[0] == '|':
		s.open = false
	case s.open:
		if len(s.paragraph.title) <= maxName {
			s.paragraph.title += " " + string(body)
		}
	case !s.lazy:
		s.paragraph, s.open = heading{line: s.number, offset: s.start, title: string(body)}, true
	}
}

func (s *reader) endHTML(line []byte) {
	if bytes.Contains(bytes.ToLower(line), []byte(s.html)) {
		s.html = ""
	}
}

// entities turns the headings into sections.
func (s *reader) entities() ([]codesage.Entity, bool) {
	ends := s.ends()
	var out []codesage.Entity
	var around []heading
	for i, h := range s.headings {
		for len(around) > 0 && around[len(around)-1].level >= h.level {
			around = around[:len(around)-1]
		}
		h.title = cleanName(h.title, false)
		if h.title == "" {
			continue
		}
		if len(out) == MaxEntities {
			return out, true
		}
		around = append(around, h)
		var titles []string
		for _, a := range around {
			titles = append(titles, a.title)
		}
		end := ends[i]
		out = append(out, codesage.Entity{
			Type:        codesage.EntityDocSection,
			Name:        h.title,
			Description: "Markdown section: " + strings.Join(titles, " > "),
			Signature:   oneLine(h.text),
			LineStart:   h.line,
			LineEnd:     max(end.line, h.line),
			StartByte:   h.offset,
			EndByte:     end.offset,
		})
	}
	return out, false
}

// place is a line and the byte behind its text.
type place struct{ line, offset int }

// ends returns for each heading the last line of its section: the one before
// the next heading of its level or above.
func (s *reader) ends() []place {
	ends := make([]place, len(s.headings))
	next := [7]place{}
	for level := range next {
		next[level] = place{s.number, s.textEnd(len(s.text))}
	}
	for i := len(s.headings) - 1; i >= 0; i-- {
		h := s.headings[i]
		ends[i] = next[h.level]
		for level := h.level; level < len(next); level++ {
			next[level] = place{h.line - 1, s.textEnd(h.offset)}
		}
	}
	return ends
}

// textEnd returns the end of the text of the line that ends before offset.
func (s *reader) textEnd(offset int) int {
	line := bytes.TrimSuffix(s.text[:offset], []byte("\n"))
	return len(bytes.TrimSuffix(line, []byte("\r")))
}

// run returns how often the first byte is repeated.
func run(b []byte) int {
	n := 0
	for n < len(b) && b[n] == b[0] {
		n++
	}
	return n
}

// atxTitle returns what stands behind the marks, without closing marks.
func atxTitle(rest []byte) string {
	title := bytes.TrimSpace(rest)
	open := bytes.TrimRight(title, "#")
	if len(open) < len(title) && (len(open) == 0 || open[len(open)-1] == ' ' || open[len(open)-1] == '\t') {
		title = bytes.TrimSpace(open)
	}
	return string(title)
}

// startsHTML returns what ends the raw HTML that a line begins, or "".
func startsHTML(body []byte) string {
	if body[0] != '<' {
		return ""
	}
	head := strings.ToLower(string(body[:min(len(body), 9)]))
	if strings.HasPrefix(head, "<!--") {
		return "-->"
	}
	for _, tag := range []string{"script", "pre", "style", "textarea"} {
		if rest, ok := strings.CutPrefix(head, "<"+tag); ok && (rest == "" || strings.IndexByte(" \t>", rest[0]) >= 0) {
			return "</" + tag + ">"
		}
	}
	return ""
}

// startsContainer reports whether a line begins a quote or a list item.
func startsContainer(body []byte) bool {
	switch body[0] {
	case '>':
		return true
	case '-', '*', '+':
		return len(body) == 1 || body[1] == ' ' && !isBreak(body) || body[1] == '\t'
	}
	n := 0
	for n < len(body) && n < 10 && body[n] >= '0' && body[n] <= '9' {
		n++
	}
	return n > 0 && n < 10 && n < len(body) && (body[n] == '.' || body[n] == ')') && (n+1 == len(body) || body[n+1] == ' ')
}

// isBreak reports whether a line is a thematic break.
func isBreak(body []byte) bool {
	n := 0
	for _, b := range body {
		if b != ' ' && b != '\t' {
			if b != body[0] {
				return false
			}
			n++
		}
	}
	return n >= 3 && (body[0] == '-' || body[0] == '*' || body[0] == '_')
}
