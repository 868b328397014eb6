package parse

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// The memory of a child. Where the system lets it, a process also limits itself
// as a whole: a grammar that wants more fails to allocate and the child dies.
const (
	goMemoryLimit = 48 << 20
	trimAbove     = 200_000 // bytes of a file whose tree is worth giving back
)

// WorkerCommand is the argument at which a program that has a Pool must run
// Worker on its standard input and output, and nothing else.
const WorkerCommand = "parse-worker"

// Worker is the main function of a parse process. It answers
// requests from in on out until in ends, and writes nothing else to out. It
// limits the memory of its process, so it must not be run in another's.
func Worker(in io.Reader, out io.Writer) error {
	debug.SetMemoryLimit(goMemoryLimit)
	prepareMemory()
	limitMemory()
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	if err := writeFrame(w, hello); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	for {
		if err := w.Flush(); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		body, err := readFrame(r, maxRequest)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		q, err := decodeRequest(body)
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		a := q.serve()
		if len(q.text) > trimAbove {
			trimMemory()
		}
		a.resident = residentMemory()
		if err := writeFrame(w, a.encode()); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

// serve parses one file.
func (q request) serve() *answer {
	o, ok := languages[q.grammar]
	if !ok {
		return &answer{status: statusFailed, message: "no grammar " + q.grammar}
	}
	l, err := o.get()
	if err != nil {
		return &answer{status: statusFailed, message: err.Error()}
	}
	t, err := parseTree(l.lang, l.hidden(q.text), q.limit, l.keep)
	switch {
	case errors.Is(err, errTimeLimit):
		return &answer{status: statusTimeout}
	case errors.Is(err, errMemory):
		return &answer{status: statusMemory}
	case err != nil:
		return &answer{status: statusFailed, message: err.Error()}
	}
	defer t.close()
	t.text = q.text
	if err := t.check(); err != nil {
		return &answer{status: statusFailed, message: err.Error()}
	}
	var a answer
	var more bool
	a.entities, a.truncated = extract(t, l)
	a.spans, more = spans(t, l)
	a.truncated = a.truncated || more
	return &a
}
