package storetest

import (
	"fmt"
	"time"

	"codesage"
	"codesage/store"
)

var runPromises = []promise{
	{"a run goes from pending to processing to failed", func(s *suite) {
		r, run := s.create(folder("a"))
		run = s.start(run.ID)
		s.same("status", run.Status, codesage.StatusProcessing)
		s.same("attempt", run.Attempt, 1)
		if run.StartedAt.IsZero() || run.HeartbeatAt.IsZero() || run.StartedAt.Location() != time.UTC {
			s.Errorf("times: started %v, heart %v", run.StartedAt, run.HeartbeatAt)
		}
		p := codesage.Progress{
			Phase: codesage.PhaseSymbols, Commit: "c0ffee", TotalFiles: 9, ProcessedFiles: 8, TextFiles: 7, KeptFiles: 6,
			ParsedFiles: 5, Entities: 4, Bytes: 3, PeakMemory: 2,
		}
		s.must(s.FailRun(s.Context(), run, p, "disk\x00 full: \xff'%_"))
		got, err := s.Store.Run(s.Context(), run.ID)
		s.must(err)
		want := run
		want.Status, want.Phase, want.Commit, want.Error = codesage.StatusFailed, p.Phase, p.Commit, got.Error
		want.TotalFiles, want.ProcessedFiles, want.TextFiles, want.KeptFiles, want.ParsedFiles = 9, 8, 7, 6, 5
		want.Entities, want.Bytes, want.PeakMemory = 4, 3, 2
		want.HeartbeatAt, want.FinishedAt = got.HeartbeatAt, got.FinishedAt
		s.same("run", got, want)
		if got.FinishedAt.IsZero() || len(got.Error) < len("disk full: '%_") {
			s.Errorf("finished %v, error %q", got.FinishedAt, got.Error)
		}
		r, err = s.Repository(s.Context(), r.ID)
		s.must(err)
		s.same("latest", r.Latest, &got)
	}},
	{"counters never go back", func(s *suite) {
		_, run := s.create(folder("a"))
		run = s.start(run.ID)
		s.must(s.Report(s.Context(), run, codesage.Progress{Phase: codesage.PhaseText, Commit: "c", TotalFiles: 10, ProcessedFiles: 5, Bytes: 7}))
		s.must(s.Report(s.Context(), run, codesage.Progress{Phase: codesage.PhaseSymbols, TotalFiles: 9, ProcessedFiles: 4, Entities: 2, Bytes: 6}))
		got, err := s.Store.Run(s.Context(), run.ID)
		s.must(err)
		s.same("counters", []int64{int64(got.TotalFiles), int64(got.ProcessedFiles), int64(got.Entities), got.Bytes}, []int64{10, 5, 2, 7})
		s.same("phase", got.Phase, codesage.PhaseSymbols)
		s.same("commit", got.Commit, "c")
		if got.HeartbeatAt.Before(run.HeartbeatAt) {
			s.Errorf("heart went back from %v to %v", run.HeartbeatAt, got.HeartbeatAt)
		}
		again, err := s.StartRun(s.Context(), run.ID, 0)
		s.must(err)
		s.same("attempt", again.Attempt, 2)
		s.same("counters of a new attempt", []int{again.TotalFiles, again.ProcessedFiles, again.Entities, int(again.Bytes)}, []int{10, 5, 0, 0})
		s.must(s.Report(s.Context(), again, codesage.Progress{TotalFiles: 8, ProcessedFiles: 3, Entities: 1}))
		got, err = s.Store.Run(s.Context(), run.ID)
		s.must(err)
		s.same("counters of an attempt that is not as far", []int{got.TotalFiles, got.ProcessedFiles, got.Entities}, []int{10, 5, 1})
		w, err := s.Begin(s.Context(), again, 0)
		s.must(err)
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		got, err = s.Store.Run(s.Context(), run.ID)
		s.must(err)
		s.same("counters of the published run", []int{got.TotalFiles, got.ProcessedFiles, got.Entities}, []int{0, 0, 0})
	}},
	{"a run is taken up only by one worker at a time", func(s *suite) {
		_, run := s.create(folder("a"))
		s.start(run.ID)
		_, err := s.StartRun(s.Context(), run.ID, long)
		s.wantKind("start a run that is worked on", err, codesage.KindConflict)
		again, err := s.StartRun(s.Context(), run.ID, 0)
		s.must(err)
		s.same("attempt", again.Attempt, 2)
		s.same("crashes", again.Crashes, 1)
	}},
	{"a run that has ended or is not the newest is not taken up", func(s *suite) {
		r, first := s.create(folder("a"))
		second, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Trigger: codesage.TriggerWatch, Supersede: true})
		s.must(err)
		_, err = s.StartRun(s.Context(), first.ID, 0)
		s.wantKind("start a superseded run", err, codesage.KindConflict)
		run := s.start(second.ID)
		s.must(s.FailRun(s.Context(), run, codesage.Progress{}, "x"))
		_, err = s.StartRun(s.Context(), second.ID, 0)
		s.wantKind("start a failed run", err, codesage.KindConflict)
		_, err = s.StartRun(s.Context(), second.ID+1, 0)
		s.wantKind("start a run that is not there", err, codesage.KindNotFound)
	}},
	{"a second run conflicts or supersedes", func(s *suite) {
		r, first := s.create(folder("a"))
		_, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Trigger: codesage.TriggerRefresh})
		s.wantKind("second run", err, codesage.KindConflict)
		second, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Trigger: codesage.TriggerRefresh, Force: true, Supersede: true})
		s.must(err)
		s.same("forced", second.Force, true)
		s.same("trigger", second.Trigger, codesage.TriggerRefresh)
		s.same("priority before a published run", second.Priority, codesage.PriorityFirst)
		first, err = s.Store.Run(s.Context(), first.ID)
		s.must(err)
		s.same("status", first.Status, codesage.StatusFailed)
		s.same("error", first.Error, "Superseded by a newer run")
		runs, err := s.ListRuns(s.Context(), r.ID, 9)
		s.must(err)
		s.same("runs, newest first", runs, []codesage.Run{second, first})
		runs, err = s.ListRuns(s.Context(), r.ID, 1)
		s.must(err)
		s.same("one run", runs, []codesage.Run{second})
		other, _ := s.indexed(folder("b"), text("a", "1"))
		refresh, err := s.CreateRun(s.Context(), store.NewRun{Repository: other.ID})
		s.must(err)
		s.same("priority after a published run", refresh.Priority, codesage.PriorityRefresh)
	}},
	{"a run that replaces another overtakes only that one", func(s *suite) {
		r, dead := s.create(folder("a"))
		s.start(dead.ID)
		replace := store.NewRun{Repository: r.ID, Trigger: codesage.TriggerResume, Replace: dead.ID}
		next, err := s.CreateRun(s.Context(), replace)
		s.must(err)
		dead, err = s.Store.Run(s.Context(), dead.ID)
		s.must(err)
		s.same("error", dead.Error, "Superseded by a newer run")
		_, err = s.CreateRun(s.Context(), replace) // by another worker that saw the same
		s.wantKind("replace a run that was replaced", err, codesage.KindConflict)
		r, err = s.Repository(s.Context(), r.ID)
		s.must(err)
		s.same("newest run", *r.Latest, next)
		_, err = s.CancelRun(s.Context(), r.ID, "Cancelled")
		s.must(err)
		for _, id := range []codesage.RunID{dead.ID, next.ID} {
			_, err = s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Replace: id})
			s.wantKind("replace a run that has ended", err, codesage.KindConflict)
		}
	}},
	{"cancel ends what is going", func(s *suite) {
		r, run := s.create(folder("a"))
		cancelled, err := s.CancelRun(s.Context(), r.ID, "Cancelled")
		s.must(err)
		s.same("run", cancelled.ID, run.ID)
		s.same("status", cancelled.Status, codesage.StatusFailed)
		s.same("error", cancelled.Error, "Cancelled")
		_, err = s.CancelRun(s.Context(), r.ID, "Cancelled")
		s.wantKind("cancel again", err, codesage.KindConflict)
	}},
	{"a released run waits again", func(s *suite) {
		_, run := s.create(folder("a"))
		run = s.start(run.ID)
		s.must(s.ReleaseRun(s.Context(), run))
		got, err := s.Store.Run(s.Context(), run.ID)
		s.must(err)
		s.same("status", got.Status, codesage.StatusPending)
		again := s.start(run.ID)
		s.same("attempt", again.Attempt, 2)
		s.same("crashes", again.Crashes, 0)
		again.Crashes = 3
		s.must(s.ReleaseRun(s.Context(), again))
		s.same("crashes that the worker knew of", s.start(run.ID).Crashes, 3)
	}},
	{"a run is taken over when its heart has been silent for the time, and not before", func(s *suite) {
		_, run := s.create(folder("a"))
		began := time.Now()
		s.start(run.ID)
		const short = 30 * time.Millisecond
		for {
			again, err := s.StartRun(s.Context(), run.ID, short)
			if err == nil {
				s.same("attempt", again.Attempt, 2)
				break
			}
			s.wantKind("take over", err, codesage.KindConflict)
		}
		if took := time.Since(began); took < short {
			s.Errorf("taken over after %s", took)
		}
		got, err := s.UnfinishedRuns(s.Context(), time.Minute)
		s.must(err)
		s.same("unfinished while the heart beats", len(got), 0)
	}},
	{"unfinished are those that wait and those whose heart stands still", func(s *suite) {
		_, waiting := s.create(folder("waiting"))
		_, working := s.create(folder("working"))
		working = s.start(working.ID)
		s.indexed(folder("done"), text("a", "1"))
		got, err := s.UnfinishedRuns(s.Context(), long)
		s.must(err)
		s.same("while the heart beats", got, []codesage.Run{waiting})
		got, err = s.UnfinishedRuns(s.Context(), 0)
		s.must(err)
		s.same("while it stands still", got, []codesage.Run{waiting, working})
	}},
	{"an attempt that has been overtaken can do nothing", func(s *suite) {
		for i, c := range []struct {
			name     string
			overtake func(r codesage.Repository, run codesage.Run) error
		}{
			{"cancelled", func(r codesage.Repository, _ codesage.Run) error {
				_, err := s.CancelRun(s.Context(), r.ID, "Cancelled")
				return err
			}},
			{"superseded", func(r codesage.Repository, _ codesage.Run) error {
				_, err := s.CreateRun(s.Context(), store.NewRun{Repository: r.ID, Supersede: true})
				return err
			}},
			{"taken over", func(_ codesage.Repository, run codesage.Run) error {
				_, err := s.StartRun(s.Context(), run.ID, 0)
				return err
			}},
			{"deleted", func(r codesage.Repository, _ codesage.Run) error { return s.DeleteRepository(s.Context(), r.ID) }},
			{"failed", func(_ codesage.Repository, run codesage.Run) error {
				return s.FailRun(s.Context(), run, codesage.Progress{}, "x")
			}},
			{"released", func(_ codesage.Repository, run codesage.Run) error { return s.ReleaseRun(s.Context(), run) }},
		} {
			r, run := s.create(folder(fmt.Sprint("f", i)))
			run = s.start(run.ID)
			w := s.begin(run, 0)
			ids := s.put(w, text("a", "1"))
			s.must(c.overtake(r, run))
			wantOvertaken(s, c.name, run, w, ids)
			if got, err := s.Repository(s.Context(), r.ID); err == nil && (got.Published != nil || got.TextRun != 0) {
				s.Errorf("%s: something was published", c.name)
			}
		}
	}},
	{"a finished writer can do nothing more", func(s *suite) {
		_, run := s.create(folder("a"))
		run = s.start(run.ID)
		w := s.begin(run, 0)
		ids := s.put(w, text("a", "1"))
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		wantOvertaken(s, "published", run, w, ids)
		w.Abort()
		w.Abort()
		_, second := s.create(folder("b"))
		w = s.begin(s.start(second.ID), 0)
		w.Abort()
		_, err := w.Put(s.Context(), []store.Text{text("a", "1")})
		s.wantKind("Put after Abort", err, codesage.KindConflict)
	}},
}

// wantOvertaken checks that every call for a run fails with KindConflict.
func wantOvertaken(s *suite, name string, run codesage.Run, w store.Writer, ids []codesage.FileID) {
	s.Helper()
	ctx := s.Context()
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"Report", func() error { return s.Report(ctx, run, codesage.Progress{ProcessedFiles: 1}) }},
		{"FailRun", func() error { return s.FailRun(ctx, run, codesage.Progress{}, "late") }},
		{"ReleaseRun", func() error { return s.ReleaseRun(ctx, run) }},
		{"Begin", func() error { _, err := s.Begin(ctx, run, 0); return err }},
		{"Put", func() error { _, err := w.Put(ctx, []store.Text{text("b", "2")}); return err }},
		{"Remove", func() error { return w.Remove(ctx, []string{"a"}) }},
		{"Stamp", func() error { return w.Stamp(ctx, map[codesage.FileID]string{ids[0]: "late"}) }},
		{"PutSymbols", func() error { return w.PutSymbols(ctx, []store.Symbols{{File: ids[0], Parser: 1}}) }},
		{"PutSkips", func() error { return w.PutSkips(ctx, []codesage.Skip{{Path: "s", Reason: codesage.SkipBinary}}) }},
		{"PublishText", func() error { return w.PublishText(ctx) }},
		{"Publish", func() error { return w.Publish(ctx, codesage.Outcome{}) }},
	} {
		s.wantKind(name+": "+c.name, c.call(), codesage.KindConflict)
	}
}
