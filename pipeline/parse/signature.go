package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// signature returns the definition's own text up to its body, on one line:
// without decorators and comments. When there is no body it ends with the line
// on which the definition inside of its wrapper begins. outer is the node that wraps definition i.
func (x *extractor) signature(i, outer int32, r *rule) string {
	start := x.behindSpace(x.behindAttributes(outer))
	end := int(x.nodes[outer].end)
	if limit := start + 4*maxSignature; end > limit {
		end = limit
	}
	if body := x.bodyStart(i, r); body > start && body <= end {
		end = body
	} else {
		name := max(start, x.behindSpace(x.behindAttributes(i)))
		end = name + firstLine(x.text[name:max(name, end)])
	}
	var b strings.Builder
	for n := outer; n < x.nodes[outer].next && int(x.nodes[n].start) < end; n++ {
		sym := x.nodes[n].symbol
		if int(sym) >= len(x.l.paint) || x.l.paint[sym] != paintComment || int(x.nodes[n].start) < start {
			continue
		}
		b.Write(x.text[start:x.nodes[n].start])
		b.WriteByte(' ')
		start = min(int(x.nodes[n].end), end)
	}
	b.Write(x.text[start:max(start, end)])
	return strings.TrimSuffix(strings.TrimSuffix(oneLine(b.String()), " ="), " {")
}

// bodyStart returns where the body of definition i begins, or -1.
func (x *extractor) bodyStart(i int32, r *rule) int {
	var body int32
	if r.body != nil {
		body = x.first(i, r.body)
	} else if body = x.child(i, x.l.body); body < 0 {
		for n := x.firstChild(i); n >= 0 && body < 0; n = x.nextSibling(n) {
			if x.l.bodies[x.nodes[n].symbol] {
				body = n
			}
		}
	}
	if body < 0 {
		return -1
	}
	return int(x.nodes[body].start)
}

// behindAttributes returns where node i begins when the decorators and comments
// in front are left out.
func (x *extractor) behindAttributes(i int32) int {
	pos := x.nodes[i].start
	end := x.nodes[i].next
	for n := i + 1; n < end && x.nodes[n].start == pos; {
		sym := x.nodes[n].symbol
		if int(sym) >= len(x.l.paint) || !x.l.attrs[sym] && x.l.paint[sym] != paintComment {
			n++
			continue
		}
		pos = x.nodes[n].end
		rest := x.text[pos:max(pos, x.nodes[i].end)]
		pos += uint32(len(rest) - len(bytes.TrimLeft(rest, " \t\r\n")))
		n = x.nodes[n].next
	}
	return int(pos)
}

// firstLine returns the length of the first line, which goes on while round or
// square brackets are open.
func firstLine(text []byte) int {
	depth := 0
	for i, b := range text {
		switch b {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\n':
			if depth <= 0 {
				return i
			}
		}
	}
	return len(text)
}

// oneLine joins trimmed lines with single spaces and cuts at the limit.
func oneLine(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(s, "\r", " ")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	out := strings.ToValidUTF8(b.String(), "\uFFFD")
	if utf8.RuneCountInString(out) > maxSignature {
		out = string([]rune(out)[:maxSignature])
	}
	return strings.TrimSpace(out)
}
