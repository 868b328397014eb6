package index

import (
	"fmt"
	"os"
	"sort"
)

// maxDocTokens is the most tokens that one field of a document may have.
const maxDocTokens = 1 << 22

const noTerm = ^uint32(0)

// WriterOptions configure a Writer.
type WriterOptions struct {
	Schema Schema
	// Dir is the folder for parts that wait to be merged: the one of the index,
	// so that a Sweep finds what a dead process left. Owner is the name of the
	// Owner whose files they are.
	Dir, Owner string
	// Budget is the bytes of tables after which a part is written. Zero
	// means 32 MiB. Files are never split, so one file may pass it. The
	// process needs a few times as much while a part is sorted.
	Budget int
}

// A Writer builds one segment from files. It is not safe for concurrent use:
// use one Writer a goroutine. After Finish or Abort it is empty
// and may be used again, which saves its tables' allocation.
//
// The text of a document is kept as one number per token, the id of the token
// as written. Folding and splitting into parts happen once per distinct token,
// and postings are made by a counting sort when a part is written.
type Writer struct {
	opt    WriterOptions
	raw    interner // tokens as written
	terms  interner // terms: folded tokens, parts, keywords
	whole  []uint32 // term of each raw token, noTerm for one that is too long
	parts  []uint32 // terms of the parts of raw token id: partAt[id] to partAt[id+1]
	partAt []uint32

	files    []fileEntry
	docs     []docEntry
	attrs    []uint32 // of all documents, in order
	payload  []byte
	lens     [][]uint32 // by field, of each document
	longest  uint32     // most tokens in a field of a document
	streams  []stream32 // by field; the paths last
	tri      triSet
	triIDs   []uint32
	triEnd   []uint32
	fileToks []uint32 // of the file being added: raw tokens
	fileAt   []uint32 // and where each begins

	buf   []byte
	slots []uint32 // for scratch
	done  []string // parts written
	cap   uint64   // most bytes of a section
}

type fileEntry struct {
	path string
	hash Hash
	doc  uint32 // first document
}

type docEntry struct {
	start, end uint32
	payEnd     uint32
}

// A stream32 holds the token ids of a field and where each document ends. In
// the stream of a Keyword field the ids are those of terms.
type stream32 struct {
	toks []uint32
	ends []uint32
}

// NewWriter returns a Writer that keeps its temporary files in opt.Dir.
func NewWriter(opt WriterOptions) (*Writer, error) {
	if err := opt.Schema.Validate(); err != nil {
		return nil, err
	}
	if opt.Budget <= 0 {
		opt.Budget = 32 << 20
	}
	n := len(opt.Schema.Fields)
	w := &Writer{opt: opt, lens: make([][]uint32, n), streams: make([]stream32, n+1), cap: maxSection}
	w.clear()
	return w, nil
}

func (w *Writer) clear() {
	w.raw.init()
	w.terms.init()
	w.whole, w.parts, w.partAt = w.whole[:0], w.parts[:0], append(w.partAt[:0], 0)
	w.files, w.docs, w.attrs, w.payload, w.longest = w.files[:0], w.docs[:0], w.attrs[:0], w.payload[:0], 0
	for i := range w.streams {
		w.streams[i].toks, w.streams[i].ends = w.streams[i].toks[:0], w.streams[i].ends[:0]
	}
	for i := range w.lens {
		w.lens[i] = w.lens[i][:0]
	}
	w.triIDs, w.triEnd = w.triIDs[:0], w.triEnd[:0]
}

// Add adds a file and its documents. The Writer keeps nothing of f but what it
// copies. After an error the Writer can only be aborted.
func (w *Writer) Add(f File) error {
	if err := w.check(f); err != nil {
		return fmt.Errorf("add %q: %w", f.Path, err)
	}
	w.files = append(w.files, fileEntry{f.Path, f.Hash, uint32(len(w.docs))})
	paths := &w.streams[len(w.lens)]
	for t := range Tokens(f.Path) {
		paths.toks = append(paths.toks, w.token(f.Path[t.Start:t.End]))
	}
	paths.ends = append(paths.ends, uint32(len(paths.toks)))
	if w.opt.Schema.Trigrams {
		w.triIDs = w.tri.distinct(w.triIDs, f.Text)
		w.triEnd = append(w.triEnd, uint32(len(w.triIDs)))
	}
	w.tokenize(f.Text)
	for i := range f.Docs {
		if err := w.addDoc(&f.Docs[i]); err != nil {
			return fmt.Errorf("add %q document %d: %w", f.Path, i, err)
		}
	}
	if w.memory() < w.opt.Budget && !w.crowded() {
		return nil
	}
	return w.flushPart()
}

// crowded reports that the number of a document and a position in it are about
// to need more than 32 bits together.
func (w *Writer) crowded() bool {
	return uint64(len(w.docs))<<shiftFor(w.longest) >= 1<<31
}

func (w *Writer) check(f File) error {
	if uint64(len(f.Text)) > maxSection {
		return fmt.Errorf("text of %d bytes: %w", len(f.Text), ErrTooLarge)
	}
	content := false
	for _, fd := range w.opt.Schema.Fields {
		content = content || fd.Kind == Content
	}
	for i, d := range f.Docs {
		if d.Start > d.End || content && uint64(d.End) > uint64(len(f.Text)) {
			return fmt.Errorf("document %d has bytes %d to %d of %d", i, d.Start, d.End, len(f.Text))
		}
		if len(d.Text) > len(w.lens) || len(d.Attrs) > len(w.opt.Schema.Attrs) {
			return fmt.Errorf("document %d has %d texts and %d attributes, which the schema has not", i, len(d.Text), len(d.Attrs))
		}
	}
	return nil
}

// tokenize sets the tokens of the file, if a field is made of them.
func (w *Writer) tokenize(text string) {
	w.fileToks, w.fileAt = w.fileToks[:0], w.fileAt[:0]
	for _, fd := range w.opt.Schema.Fields {
		if fd.Kind != Content {
			continue
		}
		for i := 0; ; {
			start, end := nextToken(text, i)
			if start == len(text) {
				return
			}
			w.fileToks = append(w.fileToks, w.token(text[start:end]))
			w.fileAt = append(w.fileAt, uint32(start))
			i = end
		}
	}
}

// token returns the number of a token as written.
func (w *Writer) token(s string) uint32 {
	id, isNew := w.raw.id(s)
	if isNew {
		w.expand(s)
	}
	return id
}

// expand records the terms of a new raw token: the whole and its parts.
func (w *Writer) expand(s string) {
	term := func(s string) uint32 {
		w.buf = appendFold(w.buf[:0], s)
		id, _ := w.terms.id(string(w.buf))
		return id
	}
	if len(s) < w.opt.Schema.maxToken() {
		w.whole = append(w.whole, term(s))
	} else {
		w.whole = append(w.whole, noTerm)
	}
	eachPart(s, func(p string) {
		if len(p) < w.opt.Schema.maxToken() {
			w.parts = append(w.parts, term(p))
		}
	})
	w.partAt = append(w.partAt, uint32(len(w.parts)))
}

func (w *Writer) addDoc(d *Doc) error {
	for f, fd := range w.opt.Schema.Fields {
		s := &w.streams[f]
		from := len(s.toks)
		text := ""
		if f < len(d.Text) {
			text = d.Text[f]
		}
		switch fd.Kind {
		case Content:
			lo, hi := w.tokensIn(d.Start, d.End)
			s.toks = append(s.toks, w.fileToks[lo:hi]...)
		case Text:
			for i := 0; ; {
				start, end := nextToken(text, i)
				if start == len(text) {
					break
				}
				s.toks = append(s.toks, w.token(text[start:end]))
				i = end
			}
		case Keyword:
			if text != "" {
				id, _ := w.terms.id(text)
				s.toks = append(s.toks, id)
			}
		}
		if n := len(s.toks) - from; n > maxDocTokens {
			return fmt.Errorf("field %d of %d tokens: %w", f, n, ErrTooLarge)
		}
		w.longest = max(w.longest, uint32(len(s.toks)-from))
		s.ends = append(s.ends, uint32(len(s.toks)))
	}
	w.measure()
	for i := range w.opt.Schema.Attrs {
		v := uint32(0)
		if i < len(d.Attrs) {
			v = d.Attrs[i]
		}
		w.attrs = append(w.attrs, v)
	}
	w.payload = append(w.payload, d.Payload...)
	w.docs = append(w.docs, docEntry{d.Start, d.End, uint32(len(w.payload))})
	return nil
}

// tokensIn returns the range of the file's tokens that begin in a byte range.
func (w *Writer) tokensIn(start, end uint32) (lo, hi int) {
	lo = sort.Search(len(w.fileAt), func(i int) bool { return w.fileAt[i] >= start })
	hi = lo + sort.Search(len(w.fileAt)-lo, func(i int) bool { return w.fileAt[lo+i] >= end })
	return lo, hi
}

// measure appends the lengths of the fields of the last document.
func (w *Writer) measure() {
	for f, fd := range w.opt.Schema.Fields {
		n := uint32(0)
		switch fd.Kind {
		case Text, Content:
			for _, id := range w.streams[f].last() {
				if w.whole[id] != noTerm {
					n++
				}
			}
		case Parts:
			for _, id := range w.streams[fd.Of].last() {
				n += w.partAt[id+1] - w.partAt[id]
			}
			w.longest = max(w.longest, n)
		}
		w.lens[f] = append(w.lens[f], n)
	}
}

// last returns the tokens of the last document.
func (s *stream32) last() []uint32 {
	from := uint32(0)
	if n := len(s.ends); n > 1 {
		from = s.ends[n-2]
	}
	return s.toks[from:]
}

func (w *Writer) memory() int {
	n := w.raw.memory() + w.terms.memory() + len(w.payload) + 16*len(w.docs) +
		4*(len(w.whole)+len(w.parts)+len(w.partAt)+len(w.triIDs)+len(w.attrs))
	for i := range w.streams {
		n += 4 * (len(w.streams[i].toks) + len(w.streams[i].ends))
	}
	return n
}

func (w *Writer) flushPart() error {
	f, err := os.CreateTemp(w.opt.Dir, tempPattern(w.opt.Owner))
	if err != nil {
		return fmt.Errorf("create part: %w", err)
	}
	f.Close()
	w.done = append(w.done, f.Name())
	return w.flush(f.Name())
}

// takeParts writes what is in memory and hands over the parts written so far.
// The caller merges and removes them.
func (w *Writer) takeParts() ([]string, error) {
	if len(w.files) > 0 {
		if err := w.flushPart(); err != nil {
			return nil, err
		}
	}
	parts := w.done
	w.done = nil
	return parts, nil
}

// Abort forgets what was added and removes what was written. It does nothing
// after Finish.
func (w *Writer) Abort() {
	for _, p := range w.done {
		os.Remove(p)
	}
	w.done = nil
	w.clear()
}
