package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"codesage"
	"codesage/store"
)

var concurrentPromises = []promise{
	{"readers see a run whole or not at all", func(s *suite) {
		const files, runs, watchers = 40, 12, 4
		generation := func(n int) []store.Text {
			var in []store.Text
			for i := range files + n {
				in = append(in, text(fmt.Sprintf("f%03d", i), fmt.Sprint("run ", n)))
			}
			return in
		}
		r, sn := s.indexed(folder("a"), generation(0)...)
		done := make(chan struct{})
		var wg sync.WaitGroup
		for range watchers {
			wg.Go(func() {
				for {
					watchOnce(s, r.ID, files)
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		for n := 1; n <= runs; n++ {
			w := s.begin(s.next(r.ID), sn.Run)
			for _, f := range generation(n) {
				s.put(w, f)
			}
			s.must(w.Publish(s.Context(), codesage.Outcome{}))
			_, sn = s.read(r.ID)
		}
		close(done)
		wg.Wait()
	}},
	{"one writer serves many goroutines", func(s *suite) {
		_, run := s.create(folder("a"))
		run = s.start(run.ID)
		w := s.begin(run, 0)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 10 {
					ids, err := w.Put(s.Context(), []store.Text{text(fmt.Sprintf("%d/%d", g, i), "1"), text(fmt.Sprintf("%d/%d.x", g, i), "2")})
					if err == nil {
						err = w.PutSymbols(s.Context(), []store.Symbols{{File: ids[0], Parser: 1, Entities: []codesage.Entity{function("f", i)}}})
					}
					if err == nil {
						err = s.Report(s.Context(), run, codesage.Progress{ProcessedFiles: g*10 + i})
					}
					if err != nil {
						s.Errorf("goroutine %d: %v", g, err)
					}
				}
			})
		}
		wg.Wait()
		got, err := s.Store.Run(s.Context(), run.ID)
		s.must(err)
		s.same("counter", got.ProcessedFiles, 79)
		s.must(w.Publish(s.Context(), codesage.Outcome{}))
		r, _ := s.read(run.Repository)
		s.same("files and entities", []int{r.Published.TotalFiles, r.Published.Entities}, []int{160, 80})
	}},
	{"eight goroutines live their lives side by side", func(s *suite) {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() { live(s, g) })
		}
		wg.Wait()
	}},
	{"a repository is deleted while it is indexed and read", func(s *suite) {
		var in []store.Text
		for i := range 700 {
			in = append(in, text(fmt.Sprintf("f%03d", i), "1"))
		}
		r, sn := s.indexed(folder("a"), in...)
		w := s.begin(s.next(r.ID), sn.Run)
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				_, err := w.Put(s.Context(), []store.Text{text("f001", "2")})
				if err != nil {
					s.wantKind("Put", err, codesage.KindConflict)
					return
				}
			}
		})
		wg.Go(func() {
			for {
				files, err := s.ListFiles(s.Context(), sn, "", 1000)
				if err != nil {
					s.wantKind("ListFiles", err, codesage.KindNotFound)
					return
				}
				s.same("files while it is there", len(files), 700)
			}
		})
		s.must(s.DeleteRepository(s.Context(), r.ID))
		wg.Wait()
		s.must(s.Prune(s.Context(), long))
	}},
}

// watchOnce reads the published snapshot of a repository whose files all say
// which run put them.
func watchOnce(s *suite, id codesage.RepositoryID, files int) {
	r, err := s.Repository(s.Context(), id)
	if err != nil {
		s.Errorf("Repository: %v", err)
		return
	}
	sn, _ := r.Snapshot()
	n, said := 0, ""
	err = s.Texts(s.Context(), sn, "", nil, func(t store.Text) error {
		if n++; said != "" && said != t.Text {
			return fmt.Errorf("%s says %q, others %q", t.Path, t.Text, said)
		}
		said = t.Text
		return nil
	})
	if err != nil {
		s.Errorf("snapshot %v: %v", sn, err)
	}
	if want := fmt.Sprint("run ", n-files); said != want || r.Published.TotalFiles != n {
		s.Errorf("snapshot %v: %d files of %d say %q, want %q", sn, n, r.Published.TotalFiles, said, want)
	}
}

// live is one goroutine's random life with a repository of its own.
func live(s *suite, g int) {
	rnd := rand.New(rand.NewPCG(uint64(g), 7))
	ctx := s.Context()
	check := func(err error) bool {
		if err != nil {
			s.Errorf("goroutine %d: %v", g, err)
		}
		return err == nil
	}
	for round := range 4 {
		r, run, err := s.CreateRepository(ctx, folder(fmt.Sprintf("g%d", g)))
		if !check(err) {
			return
		}
		for n := range 3 {
			if n > 0 {
				if run, err = s.CreateRun(ctx, store.NewRun{Repository: r.ID}); !check(err) {
					return
				}
			}
			if run, err = s.StartRun(ctx, run.ID, long); !check(err) {
				return
			}
			w, err := s.Begin(ctx, run, r.TextRun)
			if !check(err) {
				return
			}
			_, err = w.Put(ctx, []store.Text{text(fmt.Sprint("f", n), fmt.Sprint(round)), text("same", fmt.Sprint(n))})
			check(err)
			check(w.Publish(ctx, codesage.Outcome{}))
			if r, err = s.Repository(ctx, r.ID); !check(err) {
				return
			}
			sn, _ := r.Snapshot()
			files, err := s.ListFiles(ctx, sn, "", 10)
			check(err)
			s.same("files", len(files), n+2)
		}
		if rnd.IntN(2) == 0 {
			check(s.Prune(ctx, long))
		}
		check(s.DeleteRepository(ctx, r.ID))
	}
}
