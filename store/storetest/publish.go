package storetest

import (
	"fmt"

	"codesage"
	"codesage/store"
)

var publishPromises = []promise{
	{"nothing is visible before Publish, all after", func(s *suite) {
		r, old := s.indexed(folder("a"), text("a", "1"), text("b", "1"))
		run := s.next(r.ID)
		w := s.begin(run, old.Run)
		ids := s.put(w, text("b", "2"), text("c", "2"))
		s.must(w.Remove(s.Context(), []string{"a"}))
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: ids[0], Parser: 1, Entities: []codesage.Entity{function("f", 1)}}}))
		_, sn := s.read(r.ID)
		s.same("snapshot before", sn, old)
		s.same("paths before", s.paths(sn), []string{"a", "b"})
		s.must(w.Publish(s.Context(), codesage.Outcome{
			Progress: codesage.Progress{Phase: codesage.PhasePublish, Commit: "c", TotalFiles: 77, ProcessedFiles: 77, Entities: 77, ParsedFiles: 1, KeptFiles: 0},
			Language: "go", Framework: "gin", Notice: "Partially indexed", Skipped: map[codesage.SkipReason]int{codesage.SkipBinary: 3},
		}))
		r, sn = s.read(r.ID)
		s.same("snapshot after", sn, codesage.Snapshot{Repository: r.ID, Run: run.ID})
		s.same("text run", r.TextRun, run.ID)
		s.same("paths after", s.paths(sn), []string{"b", "c"})
		s.same("paths of the old snapshot", s.paths(old), []string{"a", "b"})
		p := r.Published
		s.same("status", p.Status, codesage.StatusCompleted)
		s.same("counted from the rows", []int{p.TotalFiles, p.ProcessedFiles, p.Entities}, []int{2, 2, 1})
		s.same("outcome", []string{p.Commit, p.Language, p.Framework, p.Notice}, []string{"c", "go", "gin", "Partially indexed"})
		s.same("skipped", p.Skipped, map[codesage.SkipReason]int{codesage.SkipBinary: 3})
		if p.FinishedAt.Before(p.StartedAt) {
			s.Errorf("finished %v, started %v", p.FinishedAt, p.StartedAt)
		}
		s.same("latest", r.Latest, p)
	}},
	{"what a dead run left is removed by the next", func(s *suite) {
		r, old := s.indexed(folder("a"), text("a", "1"), text("b", "1"))
		w := s.begin(s.next(r.ID), old.Run)
		s.put(w, text("b", "2"), text("c", "2"))
		s.must(w.Remove(s.Context(), []string{"a"}))
		s.must(w.PutSkips(s.Context(), []codesage.Skip{{Path: "x", Reason: codesage.SkipBinary}}))
		w = s.begin(s.next(r.ID), old.Run)
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(r.ID)
		s.same("paths", s.paths(sn), []string{"a", "b"})
	}},
	{"an attempt removes what the one before it left", func(s *suite) {
		_, run := s.create(folder("a"))
		run = s.start(run.ID)
		w := s.begin(run, 0)
		s.put(w, text("a", "1"))
		s.must(w.PutSkips(s.Context(), []codesage.Skip{{Path: "x", Reason: codesage.SkipBinary}}))
		run, err := s.StartRun(s.Context(), run.ID, 0)
		s.must(err)
		w = s.begin(run, 0)
		s.put(w, text("b", "1"))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(run.Repository)
		s.same("paths", s.paths(sn), []string{"b"})
		_, total, err := s.ListSkips(s.Context(), sn, "", 9)
		s.must(err)
		s.same("skips", total, 0)
	}},
	{"a run without a base starts from nothing", func(s *suite) {
		r, old := s.indexed(folder("a"), text("a", "1"), text("b", "1"))
		w := s.begin(s.next(r.ID), 0)
		s.same("paths meanwhile", s.paths(old), []string{"a", "b"})
		s.put(w, text("c", "1"))
		w = s.begin(s.next(r.ID), old.Run) // the base is whole again
		s.put(w, text("d", "1"))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn := s.read(r.ID)
		s.same("paths", s.paths(sn), []string{"a", "b", "d"})
		w = s.begin(s.next(r.ID), 0)
		s.put(w, text("c", "1"))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, sn = s.read(r.ID)
		s.same("paths", s.paths(sn), []string{"c"})
	}},
	{"a base that readers do not see is refused", func(s *suite) {
		r, first := s.indexed(folder("a"), text("a", "1"))
		w := s.begin(s.next(r.ID), first.Run)
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		run := s.next(r.ID)
		for _, base := range []codesage.RunID{first.Run, run.ID, run.ID + 7} {
			_, err := s.Begin(s.Context(), run, base)
			s.wantKind(fmt.Sprint("base ", base), err, codesage.KindConflict)
		}
	}},
	{"the first run of a folder publishes its text, then all", func(s *suite) {
		r, run := s.create(folder("a"))
		w := s.begin(s.start(run.ID), 0)
		ids := s.put(w, text("a", "1"))
		s.must(w.PublishText(s.Context()))
		r, err := s.Repository(s.Context(), r.ID)
		s.must(err)
		if r.Published != nil || r.Status() != codesage.StatusProcessing {
			s.Errorf("published %v, status %s", r.Published, r.Status())
		}
		sn, ok := r.TextSnapshot()
		s.same("has text", ok, true)
		s.same("paths", s.paths(sn), []string{"a"})
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: ids[0], Parser: 1, Entities: []codesage.Entity{function("f", 1)}}}))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		r, all := s.read(r.ID)
		s.same("snapshot", all, sn)
		s.same("entities", r.Published.Entities, 1)
		w = s.begin(s.next(r.ID), sn.Run)
		if err := w.PublishText(s.Context()); err == nil {
			s.Error("the text of a refresh was published apart")
		}
	}},
	{"path and options move with what is published", func(s *suite) {
		in := folder("a")
		in.Options = codesage.IndexOptions{Include: []string{"*.go"}, ChunkSize: 7}
		r, old := s.indexed(in, text("a", "1"))
		other := codesage.IndexOptions{Exclude: []string{"x\x00"}, Overlap: -1}
		n := store.NewRun{Repository: r.ID, Path: "/odd\xff", Options: &other, Supersede: true}
		failed, err := s.CreateRun(s.Context(), n)
		s.must(err)
		failed = s.start(failed.ID)
		s.wantOrigin("run", failed.Path, failed.Options, n.Path, other)
		w := s.begin(failed, old.Run)
		s.put(w, text("b", "1"))
		r, _ = s.read(r.ID)
		s.wantOrigin("repository while the run goes on", r.Path, r.Options, in.Path, in.Options)
		s.must(s.FailRun(s.Context(), failed, codesage.Progress{}, "x"))
		r, _ = s.read(r.ID)
		s.wantOrigin("repository after the run failed", r.Path, r.Options, in.Path, in.Options)
		inherits := s.next(r.ID)
		s.wantOrigin("run that names none", inherits.Path, inherits.Options, in.Path, in.Options)

		moved, err := s.CreateRun(s.Context(), n)
		s.must(err)
		moved, err = s.StartRun(s.Context(), moved.ID, 0)
		s.must(err)
		s.must(s.ReleaseRun(s.Context(), moved))
		moved = s.start(moved.ID)
		s.wantOrigin("run that was taken up again", moved.Path, moved.Options, n.Path, other)
		s.must(s.begin(moved, old.Run).Publish(s.Context(), codesage.Outcome{}))
		r, _ = s.read(r.ID)
		s.wantOrigin("repository after the run", r.Path, r.Options, n.Path, other)
		s.wantOrigin("published run", r.Published.Path, r.Published.Options, n.Path, other)
		defaults, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Options: &codesage.IndexOptions{}})
		s.must(err)
		s.wantOrigin("run with no options", defaults.Path, defaults.Options, n.Path, codesage.IndexOptions{})
	}},
	{"while there is nothing to read, path and options are those of the newest run", func(s *suite) {
		r, _ := s.create(folder("a"))
		other := codesage.IndexOptions{ChunkSize: 9}
		run, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Path: "/new", Options: &other, Supersede: true})
		s.must(err)
		r, err = s.Repository(s.Context(), r.ID)
		s.must(err)
		s.wantOrigin("repository", r.Path, r.Options, "/new", other)
		w := s.begin(s.start(run.ID), 0)
		s.must(w.PublishText(s.Context()))
		last, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Path: "/last", Supersede: true})
		s.must(err)
		s.wantOrigin("run", last.Path, last.Options, "/last", other)
		r, err = s.Repository(s.Context(), r.ID)
		s.must(err)
		s.wantOrigin("repository with text", r.Path, r.Options, "/new", other)
	}},
	{"a run resumes from the text of one that died", func(s *suite) {
		r, run := s.create(folder("a"))
		w := s.begin(s.start(run.ID), 0)
		ids := s.put(w, text("a", "1"), text("b", "1"), text("c", "1"))
		s.must(w.PublishText(s.Context()))
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: ids[0], Parser: 1, Entities: []codesage.Entity{function("a", 1)}}}))
		old := codesage.Snapshot{Repository: r.ID, Run: run.ID}

		dead := s.begin(s.next(r.ID), run.ID)
		s.put(dead, text("c", "2"))
		s.must(dead.PutSymbols(s.Context(), []store.Symbols{{File: ids[1], Parser: 1, Entities: []codesage.Entity{function("dead", 1)}}}))
		s.same("text meanwhile", s.paths(old), []string{"a", "b", "c"})
		f, err := s.File(s.Context(), old, "b")
		s.must(err)
		s.same("symbols of a run that is not published", []int{f.Parser, f.Entities}, []int{0, 0})

		w = s.begin(s.next(r.ID), run.ID)
		s.must(w.PutSymbols(s.Context(), []store.Symbols{{File: ids[1], Parser: 1, Entities: []codesage.Entity{function("b", 1), function("b2", 2)}}}))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		r, sn := s.read(r.ID)
		s.same("files and entities", []int{r.Published.TotalFiles, r.Published.Entities}, []int{3, 3})
		got, total, err := s.ListEntities(s.Context(), sn, store.EntityFilter{Limit: 9})
		s.must(err)
		s.same("total", total, 3)
		var names []string
		for _, e := range got {
			names = append(names, e.Name)
		}
		s.same("names", names, []string{"a", "b", "b2"})
	}},
	{"a run that begins anew withdraws its text", func(s *suite) {
		r, run := s.create(folder("a"))
		run = s.start(run.ID)
		w := s.begin(run, 0)
		s.put(w, text("a", "1"))
		s.must(w.PublishText(s.Context()))
		run, err := s.StartRun(s.Context(), run.ID, 0)
		s.must(err)
		w = s.begin(run, 0)
		r, err = s.Repository(s.Context(), r.ID)
		s.must(err)
		s.same("text run", r.TextRun, codesage.RunID(0))
		s.put(w, text("b", "1"))
		s.must(w.PublishText(s.Context()))
		s.same("paths", s.paths(codesage.Snapshot{Repository: r.ID, Run: run.ID}), []string{"b"})
	}},
	{"git repositories do not publish text apart", func(s *suite) {
		_, run := s.create(gitRepository("a/b"))
		w := s.begin(s.start(run.ID), 0)
		if err := w.PublishText(s.Context()); err == nil {
			s.Error("the text of a git repository was published apart")
		}
	}},
	{"a random history equals its model", func(s *suite) {
		for seed := range uint64(3) {
			playHistory(s, seed)
		}
	}},
}

// wantOrigin compares a path and options.
func (s *suite) wantOrigin(what, path string, o codesage.IndexOptions, wantPath string, want codesage.IndexOptions) {
	s.Helper()
	s.same("path of the "+what, path, wantPath)
	s.same("options of the "+what, o, want)
}
