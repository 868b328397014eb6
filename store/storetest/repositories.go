package storetest

import (
	"sync"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"codesage"
	"codesage/store"
)

var repositoryPromises = []promise{
	{"a new repository has a pending first run", func(s *suite) {
		in := gitRepository("octo/demo")
		in.Branch, in.Description = "main", `it's "quoted" \ 100%_`
		in.Options = codesage.IndexOptions{Include: []string{"*.go", "a\x00b"}, ChunkSize: 7, Overlap: -1, MaxFileBytes: 9}
		before := time.Now().Add(-time.Millisecond)
		r, run := s.create(in)
		if r.ID <= 0 || run.ID <= 0 || run.Repository != r.ID {
			s.Errorf("ids: repository %d, run %d of %d", r.ID, run.ID, run.Repository)
		}
		if r.CreatedAt.Before(before) || r.CreatedAt.Location() != time.UTC || r.UpdatedAt.Before(before) {
			s.Errorf("times: created %v, updated %v", r.CreatedAt, r.UpdatedAt)
		}
		s.same("latest run", r.Latest, &run)
		s.same("run", run, codesage.Run{Status: codesage.StatusPending, Trigger: codesage.TriggerAdd, Priority: codesage.PriorityFirst, Options: in.Options},
			cmpopts.IgnoreFields(codesage.Run{}, "ID", "Repository", "CreatedAt"))
		got, err := s.Repository(s.Context(), r.ID)
		s.must(err)
		s.same("repository read", got, r)
		in.Session = "octo-demo"
		s.same("repository", got, in, cmpopts.IgnoreFields(codesage.Repository{}, "ID", "CreatedAt", "UpdatedAt", "Latest"))
	}},
	{"a folder keeps a path that is not UTF-8", func(s *suite) {
		in := folder("odd")
		in.Path = "/src/\xff\xfe'%_"
		_, run := s.create(in)
		got, err := s.RepositoryBySession(s.Context(), "odd")
		s.must(err)
		s.same("path", got.Path, in.Path)
		s.same("path of the run", run.Path, in.Path)
	}},
	{"git sessions are made unique by number", func(s *suite) {
		for i, want := range []string{"a-b", "a-b-2", "a-b-3"} {
			in := gitRepository([]string{"a/b", "a.b", "a b"}[i])
			in.Session = "a-b"
			r, _ := s.create(in)
			s.same("session", r.Session, want)
			got, err := s.RepositoryBySession(s.Context(), want)
			s.must(err)
			s.same("by session", got, r)
		}
		_, err := s.RepositoryBySession(s.Context(), "A-B")
		s.wantKind("session in another case", err, codesage.KindNotFound)
	}},
	{"the same URL in another case exists", func(s *suite) {
		first, _ := s.create(gitRepository("octo/demo"))
		again := gitRepository("Octo/DEMO")
		r, run, err := s.CreateRepository(s.Context(), again)
		s.wantKind("same URL", err, codesage.KindExists)
		s.same("repository", r, first)
		s.same("run", run, codesage.Run{})
	}},
	{"a folder's session exists whoever has it", func(s *suite) {
		git, _ := s.create(gitRepository("octo/demo"))
		r, _, err := s.CreateRepository(s.Context(), folder(git.Session))
		s.wantKind("session of a git repository", err, codesage.KindExists)
		s.same("repository", r, git)
		one, _ := s.create(folder("one"))
		r, _, err = s.CreateRepository(s.Context(), folder("one"))
		s.wantKind("session of a folder", err, codesage.KindExists)
		s.same("repository", r, one)
		two := folder("two")
		two.Path = one.Path
		s.create(two)
	}},
	{"one of many adds at once wins", func(s *suite) {
		oneWins(s, func(i int) codesage.Repository {
			return gitRepository([]string{"octo/demo", "OCTO/demo", "octo/Demo"}[i%3])
		})
		oneWins(s, func(int) codesage.Repository { return folder("same") })
	}},
	{"git repositories added at once get sessions of their own", func(s *suite) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				in := gitRepository("x/" + string(rune('a'+i)))
				in.Session = "shared"
				if _, _, err := s.CreateRepository(s.Context(), in); err != nil {
					s.Errorf("add %s: %v", in.Name, err)
				}
			})
		}
		wg.Wait()
		all, err := s.ListRepositories(s.Context())
		s.must(err)
		sessions := map[string]bool{}
		for _, r := range all {
			sessions[r.Session] = true
		}
		s.same("sessions", len(sessions), 8)
	}},
	{"repositories are listed by id", func(s *suite) {
		a, _ := s.create(folder("b"))
		b, _ := s.indexed(folder("a"), text("x", "1"))
		all, err := s.ListRepositories(s.Context())
		s.must(err)
		s.same("list", all, []codesage.Repository{a, b})
	}},
	{"a deleted repository is gone and its names are free", func(s *suite) {
		r, sn := s.indexed(gitRepository("octo/demo"), text("a", "1"), text("b", "2"))
		other, otherSn := s.indexed(folder("other"), text("a", "1"))
		s.must(s.DeleteRepository(s.Context(), r.ID))
		wantGone(s, r, sn)
		s.same("the other's files", s.paths(otherSn), []string{"a"})
		again, run := s.create(gitRepository("octo/demo"))
		if again.ID <= other.ID || run.ID <= r.Latest.ID {
			s.Errorf("ids were used again: repository %d, run %d", again.ID, run.ID)
		}
		s.same("session", again.Session, r.Session)
		s.same("text run", again.TextRun, codesage.RunID(0))
	}},
	{"what is not there is not found", func(s *suite) {
		wantGone(s, codesage.Repository{ID: 99, Session: "none", Latest: &codesage.Run{ID: 99}}, codesage.Snapshot{Repository: 99, Run: 99})
	}},
}

// oneWins adds repositories that count as the same at once.
func oneWins(s *suite, in func(i int) codesage.Repository) {
	s.Helper()
	const adders = 8
	var mu sync.Mutex
	var wg sync.WaitGroup
	ids := map[codesage.RepositoryID]bool{}
	won := 0
	for i := range adders {
		wg.Go(func() {
			r, _, err := s.CreateRepository(s.Context(), in(i))
			mu.Lock()
			defer mu.Unlock()
			ids[r.ID] = true
			if err == nil {
				won++
			} else {
				s.wantKind("add at once", err, codesage.KindExists)
			}
		})
	}
	wg.Wait()
	s.same("adders that won", won, 1)
	s.same("repositories", len(ids), 1)
}

// wantGone checks that nothing of a repository is found.
func wantGone(s *suite, r codesage.Repository, sn codesage.Snapshot) {
	s.Helper()
	ctx := s.Context()
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"Repository", func() error { _, err := s.Repository(ctx, r.ID); return err }},
		{"RepositoryBySession", func() error { _, err := s.RepositoryBySession(ctx, r.Session); return err }},
		{"DeleteRepository", func() error { return s.DeleteRepository(ctx, r.ID) }},
		{"CreateRun", func() error { _, err := s.CreateRun(ctx, store.NewRun{Repository: r.ID}); return err }},
		{"Run", func() error { _, err := s.Store.Run(ctx, r.Latest.ID); return err }},
		{"StartRun", func() error { _, err := s.StartRun(ctx, r.Latest.ID, 0); return err }},
		{"ListRuns", func() error { _, err := s.ListRuns(ctx, r.ID, 9); return err }},
		{"CancelRun", func() error { _, err := s.CancelRun(ctx, r.ID, "x"); return err }},
		{"File", func() error { _, err := s.File(ctx, sn, "a"); return err }},
		{"ListFiles", func() error { _, err := s.ListFiles(ctx, sn, "", 9); return err }},
		{"CountFiles", func() error { _, err := s.CountFiles(ctx, sn); return err }},
		{"Texts", func() error { return s.Texts(ctx, sn, "", nil, func(store.Text) error { return nil }) }},
		{"ListEntities", func() error { _, _, err := s.ListEntities(ctx, sn, store.EntityFilter{Limit: 1}); return err }},
		{"FileEntities", func() error { _, err := s.FileEntities(ctx, sn, "a"); return err }},
		{"Spans", func() error { _, _, err := s.Spans(ctx, sn, "a"); return err }},
		{"Analyze", func() error { _, err := s.Analyze(ctx, sn); return err }},
		{"ListSkips", func() error { _, _, err := s.ListSkips(ctx, sn, "", 9); return err }},
	} {
		s.wantKind(c.name, c.call(), codesage.KindNotFound)
	}
	if all, err := s.ListRepositories(ctx); err == nil {
		for _, other := range all {
			if other.ID == r.ID {
				s.Errorf("repository %d is still listed", r.ID)
			}
		}
	}
}
