package parse

import "codesage"

// painter turns nested comments, strings and code inside strings into disjoint
// spans.
type painter struct {
	layers []layer
	pos    uint32
	out    []codesage.Span
}

type layer struct {
	end   uint32
	paint paint
}

// spans returns the comments and strings of a tree, and whether there are more
// than MaxSpans.
func spans(t *tree, l *language) ([]codesage.Span, bool) {
	var p painter
	for i := int32(0); int(i) < len(t.nodes); {
		n := &t.nodes[i]
		i++
		if int(n.symbol) >= len(l.paint) || l.paint[n.symbol] == paintNone || n.start >= n.end {
			continue
		}
		p.advance(n.start)
		if len(p.layers) > 0 {
			n = clip(n, p.layers[len(p.layers)-1].end)
		}
		p.emit(n.start)
		p.layers = append(p.layers, layer{n.end, l.paint[n.symbol]})
		if l.paint[n.symbol] == paintComment {
			i = n.next
		}
		if len(p.out) > MaxSpans {
			return p.out[:MaxSpans], true
		}
	}
	p.advance(uint32(len(t.text)))
	if len(p.out) > MaxSpans {
		return p.out[:MaxSpans], true
	}
	return p.out, false
}

// clip keeps a node inside of the one around it.
func clip(n *node, end uint32) *node {
	if n.end <= end {
		return n
	}
	c := *n
	c.end = max(end, c.start)
	return &c
}

// advance leaves the layers that end before a position.
func (p *painter) advance(to uint32) {
	for len(p.layers) > 0 {
		top := p.layers[len(p.layers)-1]
		if top.end > to {
			return
		}
		p.emit(top.end)
		p.layers = p.layers[:len(p.layers)-1]
	}
}

// emit closes the stretch from the last position to this one.
func (p *painter) emit(to uint32) {
	from := p.pos
	p.pos = max(p.pos, to)
	if len(p.layers) == 0 || to <= from {
		return
	}
	kind := codesage.SpanString
	switch p.layers[len(p.layers)-1].paint {
	case paintCode:
		return
	case paintComment:
		kind = codesage.SpanComment
	}
	if last := len(p.out) - 1; last >= 0 && p.out[last].End == from && p.out[last].Kind == kind {
		p.out[last].End = to
		return
	}
	p.out = append(p.out, codesage.Span{Start: from, End: to, Kind: kind})
}
