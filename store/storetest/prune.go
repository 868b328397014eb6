package storetest

import (
	"slices"
	"strings"

	"codesage"
	"codesage/store"
)

// matching is what a filter should find among all entities.
func matching(all []store.Located, f store.EntityFilter) []store.Located {
	var found []store.Located
	for _, e := range all {
		if strings.HasPrefix(e.Path, f.PathPrefix) && (f.Type == "" || e.Type == f.Type) &&
			strings.Contains(store.Fold(e.Name), store.Fold(f.Name)) {
			found = append(found, e)
		}
	}
	return found
}

var prunePromises = []promise{
	{"pruning removes what no reader can see, and nothing else", func(s *suite) {
		r, first := s.indexed(folder("a"), text("a", "1"), text("b", "1"))
		w := s.begin(s.next(r.ID), first.Run)
		s.put(w, text("a", "2"))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, second := s.read(r.ID)
		w = s.begin(s.next(r.ID), second.Run) // goes on while the others are pruned
		s.put(w, text("a", "3"))
		s.must(w.Remove(s.Context(), []string{"b"}))

		s.must(s.Prune(s.Context(), long))
		for sn, want := range map[codesage.Snapshot]string{first: "1", second: "2"} {
			got, err := s.File(s.Context(), sn, "a")
			s.must(err)
			s.same("text before the cut-off", got.Text, want)
		}
		s.must(s.Prune(s.Context(), 0))
		_, err := s.File(s.Context(), first, "a")
		s.wantKind("file of a pruned snapshot", err, codesage.KindNotFound)
		got, err := s.File(s.Context(), second, "a")
		s.must(err)
		s.same("published text", got.Text, "2")
		s.same("published paths", s.paths(second), []string{"a", "b"})
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, third := s.read(r.ID)
		s.same("paths", s.paths(third), []string{"a"})
	}},
	{"the newest runs are kept, and the published one", func(s *suite) {
		r, sn := s.indexed(folder("a"), text("a", "1"))
		w := s.begin(s.next(r.ID), sn.Run)
		s.must(w.PutSkips(s.Context(), []codesage.Skip{{Path: "x", Reason: codesage.SkipBinary}}))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		_, published := s.read(r.ID)
		for range codesage.KeepRuns + 5 {
			_, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Supersede: true})
			s.must(err)
		}
		before, err := s.ListRuns(s.Context(), r.ID, 1000)
		s.must(err)
		s.must(s.Prune(s.Context(), 0))
		after, err := s.ListRuns(s.Context(), r.ID, 1000)
		s.must(err)
		want := slices.Clone(before[:codesage.KeepRuns])
		for _, run := range before[codesage.KeepRuns:] {
			if run.ID == published.Run {
				want = append(want, run)
			}
		}
		s.same("runs", after, want)
		s.same("paths", s.paths(published), []string{"a"})
		_, total, err := s.ListSkips(s.Context(), published, "", 9)
		s.must(err)
		s.same("skips of the published run", total, 1)
	}},
	{"the text of a folder that was never published is kept", func(s *suite) {
		r, run := s.create(folder("a"))
		run = s.start(run.ID)
		w := s.begin(run, 0)
		s.put(w, text("a", "1"))
		s.must(w.PublishText(s.Context()))
		s.must(s.FailRun(s.Context(), run, codesage.Progress{}, "x"))
		for range codesage.KeepRuns + 5 {
			_, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Supersede: true})
			s.must(err)
		}
		s.must(s.Prune(s.Context(), 0))
		r, err := s.Repository(s.Context(), r.ID)
		s.must(err)
		sn, ok := r.TextSnapshot()
		s.same("has text", ok, true)
		s.same("paths", s.paths(sn), []string{"a"})
	}},
}
