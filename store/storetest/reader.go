package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"codesage"
	"codesage/store"
)

var readerPromises = []promise{
	{"a file that a snapshot does not have is not found", func(s *suite) {
		r, sn := s.indexed(folder("a"), text("a", "1"), text("b\x00", "2"))
		_, other := s.indexed(folder("b"), text("only", "1"))
		for _, path := range []string{"", "A", "a/", "b", "%", "only", "\xff"} {
			_, err := s.File(s.Context(), sn, path)
			s.wantKind(fmt.Sprintf("File(%q)", path), err, codesage.KindNotFound)
			_, err = s.FileEntities(s.Context(), sn, path)
			s.wantKind(fmt.Sprintf("FileEntities(%q)", path), err, codesage.KindNotFound)
			_, _, err = s.Spans(s.Context(), sn, path)
			s.wantKind(fmt.Sprintf("Spans(%q)", path), err, codesage.KindNotFound)
		}
		_, err := s.File(s.Context(), codesage.Snapshot{Repository: r.ID, Run: sn.Run - 1}, "a")
		s.wantKind("before the run", err, codesage.KindNotFound)
		s.same("files of another's run", s.paths(codesage.Snapshot{Repository: other.Repository, Run: sn.Run}), []string(nil))
	}},
	{"files are paged by path", func(s *suite) {
		var in []store.Text
		for _, path := range odd {
			in = append(in, text(path, "1"))
		}
		_, sn := s.indexed(folder("a"), in...)
		var got []string
		for after := ""; ; {
			page, err := s.ListFiles(s.Context(), sn, after, 3)
			s.must(err)
			for _, f := range page {
				got = append(got, f.Path)
			}
			if len(page) < 3 {
				break
			}
			after = page[2].Path
		}
		s.same("pages", got, odd)
		page, err := s.ListFiles(s.Context(), sn, "", 0)
		s.must(err)
		s.same("page of none", len(page), 0)
	}},
	{"texts are those wanted, after a path, until fn says stop", func(s *suite) {
		var in []store.Text
		for i := range 1200 {
			in = append(in, text(fmt.Sprintf("%04d", i), fmt.Sprint(i)))
		}
		_, sn := s.indexed(folder("a"), in...)
		stop := errors.New("stop")
		var got []string
		err := s.Texts(s.Context(), sn, "0009", func(f codesage.File) bool { return f.Path[3] == '5' }, func(t store.Text) error {
			if len(got) == 115 {
				return stop
			}
			got = append(got, t.Path+t.Text)
			_, err := s.CountFiles(s.Context(), sn) // fn may use the store
			return err
		})
		if !errors.Is(err, stop) {
			s.Errorf("got %v, want the error of fn", err)
		}
		var want []string
		for i := 15; i < 1160; i += 10 {
			want = append(want, fmt.Sprintf("%04d%d", i, i))
		}
		s.same("texts", got, want[:115])
	}},
	{"more scans than connections do not block each other", func(s *suite) {
		_, sn := s.indexed(folder("a"), text("a", "1"), text("b", "1"))
		var nest func(depth int) error
		nest = func(depth int) error {
			if depth == 0 {
				return nil
			}
			return s.Texts(s.Context(), sn, "a", nil, func(store.Text) error { return nest(depth - 1) })
		}
		s.must(nest(40))
	}},
	{"a scan ends with its context", func(s *suite) {
		_, sn := s.indexed(folder("a"), text("a", "1"))
		ctx, cancel := context.WithCancel(s.Context())
		cancel()
		err := s.Texts(ctx, sn, "", nil, func(store.Text) error { return nil })
		if !errors.Is(err, context.Canceled) {
			s.Errorf("got %v, want %v", err, context.Canceled)
		}
	}},
	{"entities are filtered by literal prefix, type and folded name", filtersEntities},
	{"an analysis names the largest ten", func(s *suite) {
		var in []store.Text
		for i := range 30 {
			f := text(fmt.Sprintf("d%02d/x/f", i%15), "1")
			f.Path += fmt.Sprint(i)
			f.Lines = i / 2
			in = append(in, f)
		}
		in = append(in, text("top", "1\n"), text("top2", "1\n"), text("a_/top3", "1\n"))
		_, sn := s.indexed(folder("a"), in...)
		a, err := s.Analyze(s.Context(), sn)
		s.must(err)
		s.same("directories", a.TopDirectories[:3], []store.DirectoryCount{{Directory: "(root)", Files: 2}, {Directory: "d00", Files: 2}, {Directory: "d01", Files: 2}})
		s.same("number of directories", len(a.TopDirectories), 10)
		s.same("largest", a.LargestFiles[:3], []store.FileLines{{Path: "d13/x/f28", Lines: 14}, {Path: "d14/x/f29", Lines: 14}, {Path: "d11/x/f26", Lines: 13}})
		s.same("number of largest", len(a.LargestFiles), 10)
		s.same("files", a.Files, 33)
	}},
	{"an empty snapshot has nothing", func(s *suite) {
		_, sn := s.indexed(folder("a"))
		s.same("paths", s.paths(sn), []string(nil))
		a, err := s.Analyze(s.Context(), sn)
		s.must(err)
		s.same("files", a.Files, 0)
		_, total, err := s.ListEntities(s.Context(), sn, store.EntityFilter{Limit: 5})
		s.must(err)
		s.same("entities", total, 0)
	}},
	{"the store answers", func(s *suite) { s.must(s.Ping(s.Context())) }},
	{"the store has an identity that stays", func(s *suite) {
		before, err := s.Identity(s.Context())
		s.must(err)
		s.indexed(folder("a"))
		after, err := s.Identity(s.Context())
		s.must(err)
		if before == "" || after != before {
			s.Errorf("it was %q and is %q", before, after)
		}
	}},
	{"the store tells its time", func(s *suite) {
		before, err := s.Now(s.Context())
		s.must(err)
		repo, _ := s.create(folder("a"))
		after, err := s.Now(s.Context())
		s.must(err)
		s.same("location", after.Location().String(), "UTC")
		if repo.CreatedAt.Before(before) || repo.CreatedAt.After(after) {
			s.Errorf("a repository was created at %s, between %s and %s", repo.CreatedAt, before, after)
		}
	}},
	{"a closed store is unavailable", func(s *suite) {
		s.must(s.Close())
		s.wantKind("Ping", s.Ping(s.Context()), codesage.KindUnavailable)
		_, _, err := s.CreateRepository(s.Context(), folder("a"))
		s.wantKind("CreateRepository", err, codesage.KindUnavailable)
		s.must(s.Close())
	}},
}

// filtersEntities compares filters with a search through all entities.
func filtersEntities(s *suite) {
	_, run := s.create(folder("a"))
	w := s.begin(s.start(run.ID), 0)
	names := []string{"Straße", "STRASSE", "ÄRGER", "ärger", "ΣΊΣΥΦΟΣ", "σίσυφος", "\u212Aelvin", "kelvin", "a%b", "a_b", "aXb", `q"'\`, "nul\x00x", "", "İ", "plain"}
	var all []store.Located
	for i, path := range odd {
		id := s.put(w, text(path, "1"))[0]
		var found []codesage.Entity
		for j, name := range names {
			e := function(name, (i+j)%7)
			e.Type = codesage.EntityTypes[(i+j)%len(codesage.EntityTypes)]
			found = append(found, e)
		}
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: id, Parser: 1, Entities: found}}))
	}
	s.must(w.Publish(s.Context(), codesage.Outcome{}))
	_, sn := s.read(run.Repository)
	all, total, err := s.ListEntities(s.Context(), sn, store.EntityFilter{Limit: 1 << 20})
	s.must(err)
	s.same("total", total, len(odd)*len(names))
	ids := map[int64]bool{}
	for _, e := range all {
		ids[e.ID] = true
	}
	s.same("ids", len(ids), total)
	filters := []store.EntityFilter{{PathPrefix: "\xff"}, {Type: "nonesuch"}, {PathPrefix: "a/", Type: codesage.EntityClass, Name: "R"}}
	for _, prefix := range append(slices.Clone(odd), "a", "b", "nul", "\uffff\uffff", "ä") {
		filters = append(filters, store.EntityFilter{PathPrefix: prefix})
	}
	for _, name := range append(slices.Clone(names), "%", "_", "SS", "äR", "σΊσ", "ς", "K", "\x00", "ſtra", "'") {
		filters = append(filters, store.EntityFilter{Name: name}, store.EntityFilter{Name: name, PathPrefix: "a", Type: codesage.EntityFunction})
	}
	for _, f := range filters {
		for _, limit := range []int{0, 3, 1000} {
			f.Limit = limit
			got, total, err := s.ListEntities(s.Context(), sn, f)
			s.must(err)
			want := matching(all, f)
			s.same(fmt.Sprintf("total of %+v", f), total, len(want))
			want = want[:min(limit, len(want))]
			if len(got) != len(want) {
				s.Errorf("%+v: got %d, want %d", f, len(got), len(want))
			} else if len(want) > 0 {
				s.same(fmt.Sprintf("entities of %+v", f), got, want)
			}
		}
	}
}
