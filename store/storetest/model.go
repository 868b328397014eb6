package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"codesage"
	"codesage/store"
)

// state is what a snapshot should have, by path.
type state map[string]entry

// entry is a file with what the symbol pass found. Files are shared between
// states, since a stamp belongs to no run.
type entry struct {
	file    *store.Text
	symbols *store.Symbols
}

// model is what a repository should be.
type model struct {
	s         *suite
	rnd       *rand.Rand
	id        codesage.RepositoryID
	folder    bool
	shown     codesage.RunID // what readers see
	published bool           // shown is more than text
	states    map[codesage.RunID]state
	skips     map[codesage.RunID]map[string]codesage.SkipReason
	serial    int // makes every text and name new
}

// playHistory plays random runs of two repositories, and compares every
// published snapshot with the model as it goes.
func playHistory(s *suite, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var models []*model
	for i, r := range []codesage.Repository{folder(fmt.Sprint("h", seed)), gitRepository(fmt.Sprint("h/", seed))} {
		made, _ := s.create(r)
		models = append(models, &model{
			s: s, rnd: rnd, id: made.ID, folder: i == 0,
			states: map[codesage.RunID]state{0: {}}, skips: map[codesage.RunID]map[string]codesage.SkipReason{0: {}},
		})
	}
	for step := range 40 {
		m := models[rnd.IntN(len(models))]
		m.playRun()
		if rnd.IntN(6) == 0 {
			m.prune(models)
		}
		for _, m := range models {
			m.compare()
		}
		if s.Failed() {
			s.Fatalf("seed %d, step %d", seed, step)
		}
	}
}

// playRun plays one run, which ends in one of many ways.
func (m *model) playRun() {
	run := m.s.next(m.id)
	base := m.shown
	if m.rnd.IntN(5) == 0 {
		base = 0
	}
	if m.rnd.IntN(6) == 0 { // an earlier attempt that dies
		m.change(m.s.begin(run, base), run.ID, maps.Clone(m.states[base]), map[string]codesage.SkipReason{})
		var err error
		run, err = m.s.StartRun(m.s.Context(), run.ID, 0)
		m.s.must(err)
	}
	w := m.s.begin(run, base)
	now, skips := maps.Clone(m.states[base]), map[string]codesage.SkipReason{}
	m.change(w, run.ID, now, skips)
	if m.folder && !m.published && m.rnd.IntN(2) == 0 {
		m.s.must(w.PublishText(m.s.Context()))
		m.shown, m.states[run.ID], m.skips[run.ID] = run.ID, now, skips // what follows is visible at once
		m.change(w, run.ID, now, skips)
	}
	switch m.rnd.IntN(6) {
	case 0:
		m.s.must(m.s.FailRun(m.s.Context(), run, codesage.Progress{}, "failed"))
	case 1:
		_, err := m.s.CancelRun(m.s.Context(), m.id, "Cancelled")
		m.s.must(err)
	case 2:
		w.Abort()
	default:
		m.s.must(w.Publish(m.s.Context(), codesage.Outcome{}))
		m.shown, m.published, m.states[run.ID], m.skips[run.ID] = run.ID, true, now, skips
	}
}

// change makes random changes through a writer and to a state.
func (m *model) change(w store.Writer, run codesage.RunID, now state, skips map[string]codesage.SkipReason) {
	ctx := m.s.Context()
	var puts []store.Text
	stamps := map[codesage.FileID]string{}
	var removed []string
	for _, path := range append(slices.Clone(odd), "d/1", "d/2", "e/1") {
		m.serial++
		switch e, there := now[path]; m.rnd.IntN(6) {
		case 0, 1:
			t := text(path, strings.Repeat(fmt.Sprint(m.serial, "\n"), m.rnd.IntN(5)))
			t.Language = []string{"go", "text"}[m.serial%2]
			puts = append(puts, t)
		case 2:
			if there && m.ofBase(run, e) {
				removed = append(removed, path)
				delete(now, path)
			}
		case 3:
			if there {
				e.file.Stamp = fmt.Sprint("stamp ", m.serial)
				stamps[e.file.ID] = e.file.Stamp
			}
		case 4:
			skips[path] = codesage.SkipBinary
			m.s.must(w.PutSkips(ctx, []codesage.Skip{{Path: path, Reason: codesage.SkipBinary}}))
		}
	}
	for i, id := range m.s.put(w, puts...) {
		t := puts[i]
		t.ID = id
		now[t.Path] = entry{file: &t}
	}
	m.s.must(w.Remove(ctx, removed))
	m.s.must(w.Stamp(ctx, stamps))
	m.parse(w, now)
}

// ofBase reports whether a run did not put the entry itself.
func (m *model) ofBase(run codesage.RunID, e entry) bool {
	f, err := m.s.File(m.s.Context(), codesage.Snapshot{Repository: m.id, Run: run - 1}, e.file.Path)
	return err == nil && f.ID == e.file.ID
}

// parse stores symbols of some files that have none.
func (m *model) parse(w store.Writer, now state) {
	var symbols []store.Symbols
	for path, e := range now {
		if e.symbols != nil || m.rnd.IntN(3) == 0 {
			continue
		}
		y := store.Symbols{File: e.file.ID, Parser: 1 + m.rnd.IntN(3), HasSpans: m.rnd.IntN(2) == 0}
		for range m.rnd.IntN(4) {
			m.serial++
			f := function(fmt.Sprintf("Ä%d%%", m.serial), m.rnd.IntN(5))
			f.Type = codesage.EntityTypes[m.rnd.IntN(len(codesage.EntityTypes))]
			y.Entities = append(y.Entities, f)
		}
		if y.HasSpans && m.rnd.IntN(2) == 0 {
			y.Spans = []codesage.Span{{Start: 1, End: 5, Kind: codesage.SpanString}}
		}
		e.symbols = &y
		now[path] = e
		symbols = append(symbols, y)
	}
	m.s.must(w.PutSymbols(m.s.Context(), symbols))
}

// prune removes old snapshots or, with a cut-off before them, none.
func (m *model) prune(models []*model) {
	m.s.must(m.s.Prune(m.s.Context(), long))
	for _, m := range models {
		m.compare()
	}
	m.s.must(m.s.Prune(m.s.Context(), 0))
	for _, m := range models {
		if !m.published {
			continue
		}
		maps.DeleteFunc(m.states, func(run codesage.RunID, _ state) bool { return run != m.shown && run != 0 })
	}
}

// compare reads every snapshot that should be whole.
func (m *model) compare() {
	r, err := m.s.Repository(m.s.Context(), m.id)
	m.s.must(err)
	m.s.same("text run", r.TextRun, m.shown)
	m.s.same("has a published run", r.Published != nil, m.published)
	if r.Published != nil {
		m.s.same("published run", r.Published.ID, m.shown)
		m.s.same("files of the published run", r.Published.TotalFiles, len(m.states[m.shown]))
	}
	for run, want := range m.states {
		if run != 0 {
			m.compareSnapshot(codesage.Snapshot{Repository: m.id, Run: run}, want)
		}
	}
}

func (m *model) compareSnapshot(sn codesage.Snapshot, want state) {
	ctx := m.s.Context()
	type dump struct {
		Text     store.Text
		Entities []codesage.Entity
		Spans    []codesage.Span
		HasSpans bool
	}
	var got, wanted []dump
	m.s.must(m.s.Texts(ctx, sn, "", nil, func(t store.Text) (err error) {
		d := dump{Text: t}
		if d.Entities, err = m.s.FileEntities(ctx, sn, t.Path); err != nil {
			return err
		}
		d.Spans, d.HasSpans, err = m.s.Spans(ctx, sn, t.Path)
		got = append(got, d)
		return err
	}))
	var located []store.Located
	for _, path := range slices.Sorted(maps.Keys(want)) {
		e := want[path]
		d := dump{Text: *e.file}
		if y := e.symbols; y != nil {
			d.Text.Parser, d.Text.Entities, d.Spans, d.HasSpans = y.Parser, len(y.Entities), y.Spans, y.HasSpans
			d.Entities = slices.Clone(y.Entities)
			slices.SortStableFunc(d.Entities, func(a, b codesage.Entity) int { return cmp.Compare(a.LineStart, b.LineStart) })
		}
		for _, f := range d.Entities {
			located = append(located, store.Located{Entity: f, Path: path, Language: e.file.Language})
		}
		wanted = append(wanted, d)
	}
	noIDs := gocmp.Options{cmpopts.IgnoreFields(codesage.Entity{}, "ID"), cmpopts.EquateEmpty()}
	m.s.same(fmt.Sprintf("files of %v", sn), got, wanted, noIDs)
	entities, total, err := m.s.ListEntities(ctx, sn, store.EntityFilter{Limit: 1 << 20})
	m.s.must(err)
	m.s.same(fmt.Sprintf("entities of %v", sn), entities, located, noIDs)
	m.s.same("total of entities", total, len(located))
	n, err := m.s.CountFiles(ctx, sn)
	m.s.must(err)
	m.s.same("number of files", n, len(want))
	m.compareAnalysis(sn, want)
	if skips, ok := m.skips[sn.Run]; ok && sn.Run == m.shown {
		_, total, err := m.s.ListSkips(ctx, sn, "", 1)
		m.s.must(err)
		m.s.same("number of skips", total, len(skips))
	}
}

func (m *model) compareAnalysis(sn codesage.Snapshot, want state) {
	got, err := m.s.Analyze(m.s.Context(), sn)
	m.s.must(err)
	a := store.Analysis{
		EntitiesByType: map[codesage.EntityType]int{}, FilesByLanguage: map[string]int{}, EntitiesByLanguage: map[string]int{},
	}
	for _, e := range want {
		a.Files++
		a.Lines += e.file.Lines
		a.FilesByLanguage[e.file.Language]++
		if e.symbols == nil {
			continue
		}
		for _, f := range e.symbols.Entities {
			a.Entities++
			a.EntitiesByType[f.Type]++
			a.EntitiesByLanguage[e.file.Language]++
		}
	}
	m.s.same("analysis", got, a, cmpopts.IgnoreFields(store.Analysis{}, "TopDirectories", "LargestFiles"), cmpopts.EquateEmpty())
}
