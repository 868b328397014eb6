package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A TermCount is a term of a field and the number of live documents with it.
type TermCount struct {
	Text string
	DF   int
}

// DF returns the number of live documents that have a term in a field.
func (x *Index) DF(field int, term string) (int, error) {
	if err := x.checkField(field); err != nil {
		return 0, err
	}
	n := 0
	err := x.use(func() error {
		var tmp postings
		for i := range x.parts {
			df, err := x.parts[i].df(field, term, &tmp)
			if err != nil {
				return err
			}
			n += df
		}
		return nil
	})
	return n, err
}

func (x *Index) checkField(field int) error {
	if len(x.parts) > 0 && (field < 0 || field >= len(x.schema.Fields)) {
		return fmt.Errorf("%w: no field %d", ErrQuery, field)
	}
	return nil
}

func (p *part) df(field int, term string, tmp *postings) (int, error) {
	info, err := p.seg.lookup(uint8(field), term)
	if err != nil {
		return 0, err
	}
	return p.liveDF(info, tmp)
}

// Terms returns the first terms of a field that begin with prefix, in the order
// of their bytes, at most limit. Terms without a live document are left out.
func (x *Index) Terms(ctx context.Context, field int, prefix string, limit int) ([]TermCount, error) {
	if err := x.checkField(field); err != nil {
		return nil, err
	}
	count := map[string]int{}
	err := x.use(func() error {
		stop := &stopper{ctx: ctx}
		var tmp postings
		for i := range x.parts {
			// A term that is among the first of all is among the first of
			// every segment that has it.
			p, n := &x.parts[i], 0
			key := termKey(uint8(field), prefix)
			d := dictIter{s: p.seg}
			for ok := d.seek(key); ok && n < limit && bytes.HasPrefix(d.key, key); ok = d.next() {
				if !stop.ok() {
					return stop.err
				}
				df, err := p.liveDF(d.info, &tmp)
				if err != nil {
					return err
				}
				if df > 0 {
					count[string(d.key[1:])] += df
					n++
				}
			}
			if d.err != nil {
				return d.err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	terms := termCounts(count, func(a, b TermCount) int { return strings.Compare(a.Text, b.Text) })
	return terms[:min(max(limit, 0), len(terms))], nil
}

// Near returns terms of a field at edit distance one from word: a character
// put in, left out, replaced, or swapped with its neighbour. The word itself is
// not among them. They come with the most frequent first, at most limit.
func (x *Index) Near(ctx context.Context, field int, word string, limit int) ([]TermCount, error) {
	if err := x.checkField(field); err != nil {
		return nil, err
	}
	count := map[string]int{}
	err := x.use(func() error {
		n := &near{stop: &stopper{ctx: ctx}, field: uint8(field), word: word, count: count}
		for i := range x.parts {
			n.p = &x.parts[i]
			n.d = dictIter{s: n.p.seg}
			n.seen = map[string]bool{word: true}
			if err := n.search(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	terms := termCounts(count, func(a, b TermCount) int {
		return cmp.Or(cmp.Compare(b.DF, a.DF), strings.Compare(a.Text, b.Text))
	})
	return terms[:min(max(limit, 0), len(terms))], nil
}

func termCounts(count map[string]int, compare func(a, b TermCount) int) []TermCount {
	terms := make([]TermCount, 0, len(count))
	for t, n := range count {
		terms = append(terms, TermCount{t, n})
	}
	slices.SortFunc(terms, compare)
	return terms
}

// near finds the terms of one segment that are close to a word. It asks the
// dictionary which characters follow each beginning of the word, so its cost
// grows with the alphabet in use and not with the dictionary.
type near struct {
	p     *part
	d     dictIter
	stop  *stopper
	field uint8
	word  string
	seen  map[string]bool
	count map[string]int
	tmp   postings
}

func (n *near) search() error {
	for i := 0; i <= len(n.word); {
		size := 0
		if i < len(n.word) {
			_, size = utf8.DecodeRuneInString(n.word[i:])
			rest := n.word[i+size:]
			if err := n.try(n.word[:i] + rest); err != nil {
				return err
			}
			_, next := utf8.DecodeRuneInString(rest)
			if err := n.try(n.word[:i] + rest[:next] + n.word[i:i+size] + rest[next:]); err != nil {
				return err
			}
		}
		if err := n.follow(n.word[:i], n.word[i:], n.word[i+size:]); err != nil {
			return err
		}
		i += max(size, 1)
	}
	return nil
}

// follow tries every character c that follows the prefix in the dictionary, as
// prefix+c+insert and prefix+c+replace.
func (n *near) follow(prefix, insert, replace string) error {
	key := termKey(n.field, prefix)
	at := append(bytes.Clone(key), 0)
	for n.d.seek(at) && bytes.HasPrefix(n.d.key, key) {
		if !n.stop.ok() {
			return n.stop.err
		}
		_, size := utf8.DecodeRune(n.d.key[len(key):])
		next := string(n.d.key[1 : len(key)+size])
		if err := n.try(next + insert); err != nil {
			return err
		}
		if insert != replace {
			if err := n.try(next + replace); err != nil {
				return err
			}
		}
		// No UTF-8 text holds the byte 0xff, so this is after all terms
		// that begin so.
		at = append(append(at[:1], next...), 0xff)
	}
	return n.d.err
}

// try counts a term, if it exists.
func (n *near) try(term string) error {
	if term == "" || n.seen[term] {
		return nil
	}
	key := termKey(n.field, term)
	if !n.d.seek(key) || !bytes.Equal(n.d.key, key) {
		return n.d.err
	}
	n.seen[term] = true
	df, err := n.p.liveDF(n.d.info, &n.tmp)
	if err == nil && df > 0 {
		n.count[term] += df
	}
	return err
}
