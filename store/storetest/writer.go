package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/go-cmp/cmp/cmpopts"

	"codesage"
	"codesage/store"
)

// odd are paths and names that a careless store gets wrong. They are in byte
// order.
var odd = []string{
	"%", "'; DROP TABLE files; --", "A", "Z/a", "_", `a"b`, "a%b", "a/b", "a\\b", "a_b", "ab", "b\x00", "b\x00c", "b\x01", "b\x01\x01", "b\x02",
	"nul\x00nul", "ä", "日本/語.go", "\uffff", "\U0010ffff",
}

var writerPromises = []promise{
	{"files come back as they were put", func(s *suite) {
		var in []store.Text
		for i, path := range odd {
			f := text(path, "text of "+path+"\x00\r\n'%_\U0010ffff")
			f.Generated, f.Test, f.Stamp = i%2 == 0, i%3 == 0, "stamp\x00"+path
			in = append(in, f)
		}
		_, run := s.create(folder("a"))
		w := s.begin(s.start(run.ID), 0)
		ids := s.put(w, in...)
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(run.Repository)
		for i := range in {
			in[i].ID = ids[i]
			got, err := s.File(s.Context(), sn, in[i].Path)
			s.must(err)
			s.same("file", got, in[i])
		}
		var got []store.Text
		s.must(s.Texts(s.Context(), sn, "", nil, func(t store.Text) error {
			got = append(got, t)
			return nil
		}))
		s.same("all texts in order", got, in)
	}},
	{"what the text pass does not know is not stored by it", func(s *suite) {
		f := text("a", "1")
		f.Entities, f.Parser = 5, 3
		_, sn := s.indexed(folder("a"), f)
		got, err := s.File(s.Context(), sn, "a")
		s.must(err)
		s.same("entities and parser", []int{got.Entities, got.Parser}, []int{0, 0})
	}},
	{"a file put again takes the place of the base's and of an earlier put", func(s *suite) {
		r, old := s.indexed(folder("a"), text("a", "1"), text("b", "1"))
		w := s.begin(s.next(r.ID), old.Run)
		first := s.put(w, text("a", "2"))
		second := s.put(w, text("a", "3"))
		if first[0] == second[0] {
			s.Errorf("both puts have id %d", first[0])
		}
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(r.ID)
		s.same("paths", s.paths(sn), []string{"a", "b"})
		got, err := s.File(s.Context(), sn, "a")
		s.must(err)
		s.same("text", got.Text, "3")
		s.same("id", got.ID, second[0])
		got, err = s.File(s.Context(), old, "a")
		s.must(err)
		s.same("text in the old snapshot", got.Text, "1")
	}},
	{"remove ends the base's files only", func(s *suite) {
		r, old := s.indexed(folder("a"), text("a", "1"), text("b", "1"))
		w := s.begin(s.next(r.ID), old.Run)
		s.put(w, text("c", "1"))
		s.must(w.Remove(s.Context(), []string{"a", "not there", "c"}))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(r.ID)
		s.same("paths", s.paths(sn), []string{"b", "c"})
		s.same("paths before", s.paths(old), []string{"a", "b"})
	}},
	{"stamps change without a new file, in this repository only", func(s *suite) {
		r, sn := s.indexed(folder("a"), text("a", "1"))
		_, other := s.indexed(folder("b"), text("a", "1"))
		mine, err := s.File(s.Context(), sn, "a")
		s.must(err)
		theirs, err := s.File(s.Context(), other, "a")
		s.must(err)
		w := s.begin(s.next(r.ID), sn.Run)
		s.must(w.Stamp(s.Context(), map[codesage.FileID]string{mine.ID: "new", theirs.ID: "new"}))
		got, err := s.File(s.Context(), sn, "a")
		s.must(err)
		mine.Stamp = "new"
		s.same("stamped file", got, mine)
		got, err = s.File(s.Context(), other, "a")
		s.must(err)
		s.same("file of the other", got, theirs)
	}},
	{"symbols come back as they were put", func(s *suite) {
		_, run := s.create(folder("a"))
		w := s.begin(s.start(run.ID), 0)
		ids := s.put(w, text("a", "1"), text("b", "2"), text("c", "3"))
		entities := []codesage.Entity{function("late\x00'%_", 9), function("second", 3), function("third", 3), {Type: codesage.EntityImport, Name: "ä"}}
		spans := []codesage.Span{{Start: 0, End: 0, Kind: codesage.SpanComment}, {Start: 3, End: 900000, Kind: codesage.SpanString}, {Start: 900000, End: 1<<32 - 1, Kind: codesage.SpanComment}}
		s.must(w.PutSymbols(s.Context(), []store.Symbols{
			{File: ids[0], Parser: 4, Entities: []codesage.Entity{function("replaced", 1)}, HasSpans: true},
			{File: ids[1], Parser: 4, HasSpans: true},
		}))
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: ids[0], Parser: 5, Entities: entities, Spans: spans, HasSpans: true}}))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		r, sn := s.read(run.Repository)
		s.same("entities of the run", r.Published.Entities, 4)
		got, err := s.FileEntities(s.Context(), sn, "a")
		s.must(err)
		want := []codesage.Entity{entities[3], entities[1], entities[2], entities[0]}
		s.same("entities", got, want, cmpopts.IgnoreFields(codesage.Entity{}, "ID"))
		gotSpans, ok, err := s.Spans(s.Context(), sn, "a")
		s.must(err)
		s.same("spans", gotSpans, spans)
		s.same("has spans", ok, true)
		for path, has := range map[string]bool{"b": true, "c": false} {
			gotSpans, ok, err = s.Spans(s.Context(), sn, path)
			s.must(err)
			s.same("has spans of "+path, ok, has)
			s.same("spans of "+path, len(gotSpans), 0)
		}
		f, err := s.File(s.Context(), sn, "a")
		s.must(err)
		s.same("parser and entities", []int{f.Parser, f.Entities}, []int{5, 4})
	}},
	{"symbols of files that a run does not have are refused", func(s *suite) {
		r, sn := s.indexed(folder("a"), text("gone", "1"), text("parsed", "1"))
		_, other := s.indexed(folder("b"), text("a", "1"))
		run := s.next(r.ID)
		w := s.begin(run, sn.Run)
		parsed, err := s.File(s.Context(), sn, "parsed")
		s.must(err)
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: parsed.ID, Parser: 1}}))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		w = s.begin(s.next(r.ID), run.ID)
		gone, err := s.File(s.Context(), sn, "gone")
		s.must(err)
		theirs, err := s.File(s.Context(), other, "a")
		s.must(err)
		s.put(w, text("gone", "2"))
		for name, id := range map[string]codesage.FileID{"replaced": gone.ID, "has symbols": parsed.ID, "another repository's": theirs.ID, "none": 1 << 40} {
			if err := w.PutSymbols(s.Context(), []store.Symbols{{File: id, Parser: 1}}); err == nil {
				s.Errorf("%s: symbols were stored", name)
			}
		}
	}},
	{"skips are a run's own", func(s *suite) {
		r, run := s.create(folder("a"))
		w := s.begin(s.start(run.ID), 0)
		var want []codesage.Skip
		for _, path := range odd {
			want = append(want, codesage.Skip{Path: path, Reason: codesage.SkipLargeFile})
		}
		s.must(w.PutSkips(s.Context(), want[5:]))
		s.must(w.PutSkips(s.Context(), want[:6]))
		s.must(w.Publish(s.Context(), codesage.Outcome{Skipped: map[codesage.SkipReason]int{codesage.SkipLargeFile: len(want)}}))
		r, sn := s.read(r.ID)
		s.same("counted", r.Published.Skipped, map[codesage.SkipReason]int{codesage.SkipLargeFile: len(want)})
		got, total, err := s.ListSkips(s.Context(), sn, "", 99)
		s.must(err)
		s.same("skips", got, want)
		s.same("total", total, len(want))
		got, total, err = s.ListSkips(s.Context(), sn, want[3].Path, 2)
		s.must(err)
		s.same("a page of skips", got, want[4:6])
		s.same("total with a page", total, len(want))
		w = s.begin(s.next(r.ID), sn.Run)
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn = s.read(r.ID)
		_, total, err = s.ListSkips(s.Context(), sn, "", 99)
		s.must(err)
		s.same("skips of the next run", total, 0)
	}},
	{"long paths are stored", func(s *suite) {
		rnd := rand.New(rand.NewPCG(1, 2))
		start := make([]rune, 1000) // of three bytes each, without a pattern
		for i := range start {
			start[i] = 0x4e00 + rune(rnd.IntN(0x5000))
		}
		a, b := string(start)+strings.Repeat("a", 1096), string(start)+strings.Repeat("b", 1096)
		skip := codesage.Skip{Path: a, Reason: codesage.SkipBinary}
		r, old := s.indexed(folder("a"), text("0", "1"), text(b, "1"), text(a, "1"))
		w := s.begin(s.next(r.ID), old.Run)
		ids := s.put(w, text(a, "2"))
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: ids[0], Parser: 1, Entities: []codesage.Entity{function("f", 1)}}}))
		s.must(w.Remove(s.Context(), []string{b}))
		s.must(w.PutSkips(s.Context(), []codesage.Skip{skip}))
		s.must(w.PutSkips(s.Context(), []codesage.Skip{{Path: b, Reason: codesage.SkipBinary}, skip}))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(r.ID)
		s.same("paths before", s.paths(old), []string{"0", a, b})
		s.same("paths", s.paths(sn), []string{"0", a})
		f, err := s.File(s.Context(), sn, a)
		s.must(err)
		s.same("text", f.Text, "2")
		page, err := s.ListFiles(s.Context(), old, a, 9)
		s.must(err)
		s.same("files after", len(page), 1)
		_, total, err := s.ListEntities(s.Context(), sn, store.EntityFilter{PathPrefix: a[:4000], Limit: 9})
		s.must(err)
		s.same("entities with the prefix", total, 1)
		skips, total, err := s.ListSkips(s.Context(), sn, a, 9)
		s.must(err)
		s.same("skips after", skips, []codesage.Skip{{Path: b, Reason: codesage.SkipBinary}})
		s.same("skips", total, 2)
	}},
	{"a large batch and a large text are stored", func(s *suite) {
		var in []store.Text
		for i := range 3000 {
			in = append(in, text(fmt.Sprintf("d%02d/f%04d", i%40, i), strings.Repeat("x", i%300)))
		}
		in = append(in, text("large", strings.Repeat("0123456789abcde\n", 10<<16)))
		_, run := s.create(folder("a"))
		w := s.begin(s.start(run.ID), 0)
		ids := s.put(w, in...)
		var symbols []store.Symbols
		for i, id := range ids {
			symbols = append(symbols, store.Symbols{File: id, Parser: 1, Entities: []codesage.Entity{function(fmt.Sprint("f", i), 1), function("g", 2)}})
		}
		s.must(w.PutSymbols(s.Context(), symbols))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		r, sn := s.read(run.Repository)
		s.same("files and entities", []int{r.Published.TotalFiles, r.Published.ProcessedFiles, r.Published.Entities}, []int{3001, 3001, 6002})
		n := 0
		s.must(s.Texts(s.Context(), sn, "", nil, func(t store.Text) error {
			if int64(len(t.Text)) != t.Size {
				return fmt.Errorf("%s has %d of %d bytes", t.Path, len(t.Text), t.Size)
			}
			n++
			return nil
		}))
		s.same("texts", n, 3001)
	}},
	{"a cancelled call changes nothing", func(s *suite) {
		_, run := s.create(folder("a"))
		run = s.start(run.ID)
		w := s.begin(run, 0)
		cancelled, cancel := context.WithCancel(s.Context())
		cancel()
		_, err := w.Put(cancelled, []store.Text{text("a", "1")})
		if !errors.Is(err, context.Canceled) {
			s.Errorf("Put: got %v, want %v", err, context.Canceled)
		}
		if err := s.Report(cancelled, run, codesage.Progress{TotalFiles: 5}); !errors.Is(err, context.Canceled) {
			s.Errorf("Report: got %v, want %v", err, context.Canceled)
		}
		s.put(w, text("b", "1"))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(run.Repository)
		s.same("paths", s.paths(sn), []string{"b"})
	}},
}
