package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"codesage"
	"codesage/pipeline/decode"
	"codesage/pipeline/language"
	"codesage/pipeline/source"
)

// Limits say which files of a source are taken.
type Limits struct {
	MaxFiles     int   // files at most; 0 = no limit
	MaxBytes     int64 // bytes of all files at most; 0 = no limit
	MaxFileBytes int64 // bytes of one file; 0 = no limit. See Generated

	// Generated leaves out what a program wrote (lock files, minified and
	// generated files) and files of no known language, and a file of exactly
	// MaxFileBytes too. It is on for git repositories; folders keep all text.
	Generated bool
}

// looks is after how many files a selection looks at its context.
const looks = 1_000

// selection chooses the files to index of those that a source lists. What name
// and size can decide is decided as a file is added: binary by its ending,
// generated or of unknown language by its name, too large. The others are read,
// for what only the content tells, but no more of them than it takes to fill the
// limits. So what is selected is what will be stored.
//
// When there are more files than the limits allow, those are taken that tell
// most of the program: see preference. A file that its content rules out takes
// no place. Selected files come in the order of the list. So do skips, those by
// name and size first.
type selection struct {
	limits  Limits
	readers int                                                 // files looked at at the same time
	look    func(context.Context, source.File) (verdict, error) // judges a file by its content; called by many goroutines
	take    func(f source.File, kept bool)                      // is told of each file that is selected
	leave   func(codesage.Skip) error                           // is told of each file that is not
	files   []source.File
}

// verdict is what became of a file.
type verdict struct {
	reason codesage.SkipReason // why it is left out; empty = it is not
	gone   bool                // it was deleted since it was listed: neither selected nor skipped
	kept   bool                // selected, and the base's file of this path stands
}

// out reports whether the file is not selected.
func (v verdict) out() bool { return v.gone || v.reason != "" }

// add takes the next file of the list.
func (s *selection) add(f source.File) error {
	if reason := s.limits.leaveOut(f); reason != "" {
		return s.leave(codesage.Skip{Path: f.Path, Reason: reason})
	}
	s.files = append(s.files, f)
	return nil
}

// leaveOut says why a file is not taken whatever else there is.
func (l Limits) leaveOut(f source.File) codesage.SkipReason {
	switch {
	case decode.BinaryName(f.Path):
		return codesage.SkipBinary
	case l.Generated && l.MaxFileBytes > 0 && f.Size >= l.MaxFileBytes:
		return codesage.SkipLargeFile
	case !l.Generated && l.MaxFileBytes > 0 && f.Size > l.MaxFileBytes:
		return codesage.SkipLargeText
	case l.Generated && language.Generated(f.Path, nil):
		return codesage.SkipGenerated
	case l.Generated && foreign(f.Path):
		return codesage.SkipLanguage
	}
	return ""
}

// foreign reports whether a name belongs to no known language. A name without
// an ending may still be that of a script: its first line decides.
func foreign(path string) bool {
	_, ok := language.ByName(path)
	return !ok && strings.Contains(strings.TrimLeft(path[strings.LastIndexByte(path, '/')+1:], "."), ".")
}

// choose hands out the files that were added, each to take or to leave.
func (s *selection) choose(ctx context.Context) error {
	verdicts, err := s.judge(ctx)
	if err != nil {
		return err
	}
	for i, f := range s.files {
		if i%looks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch v := verdicts[i]; {
		case v.gone:
		case v.reason == "":
			s.take(f, v.kept)
		default:
			if err := s.leave(codesage.Skip{Path: f.Path, Reason: v.reason}); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge returns a verdict on each file. It goes by the order of preference as
// long as the limits hold. A file that would pass the limit of bytes is left out
// and smaller ones after it may still be taken.
func (s *selection) judge(ctx context.Context) ([]verdict, error) {
	order, err := s.order(ctx)
	if err != nil {
		return nil, err
	}
	verdicts := make([]verdict, len(s.files))
	left := s.limits.room()
	for len(order) > 0 {
		wave := s.wave(order, left)
		if len(wave) == 0 {
			verdicts[order[0]].reason = left.full(s.files[order[0]])
			order = order[1:]
			continue
		}
		if err := s.lookAt(ctx, wave, verdicts); err != nil {
			return nil, err
		}
		for _, place := range wave {
			if !verdicts[place].out() {
				left.add(s.files[place])
			}
		}
		order = order[len(wave):]
	}
	return verdicts, nil
}

// wave returns the files at the head of the order that fit into the room even if
// all of them are taken. So each has to be looked at, whatever becomes of the
// others.
func (s *selection) wave(order []int32, left room) []int32 {
	for i, place := range order {
		if left.full(s.files[place]) != "" {
			return order[:i]
		}
		left.add(s.files[place])
	}
	return order
}

// lookAt sets the verdicts on the files of a wave.
func (s *selection) lookAt(ctx context.Context, wave []int32, verdicts []verdict) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range s.readers {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(wave)); i = next.Add(1) - 1 {
				f := s.files[wave[i]]
				v, err := s.look(ctx, f)
				if err != nil {
					return fmt.Errorf("look at %s: %w", f.Path, err)
				}
				verdicts[wave[i]] = v
			}
			return nil
		})
	}
	return group.Wait()
}

// order returns the places of the files in the order of preference, or in that
// of the list when there is room for all.
func (s *selection) order(ctx context.Context) ([]int32, error) {
	order := make([]int32, len(s.files))
	for i := range order {
		order[i] = int32(i)
	}
	if len(s.wave(order, s.limits.room())) == len(order) {
		return order, ctx.Err()
	}
	preferences := make([]preference, len(s.files))
	for i, f := range s.files {
		if i%looks == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// What is generated by its name was left out already where that counts.
		preferences[i] = preferenceOf(f.Path, !s.limits.Generated)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(preferences[a].compare(preferences[b]), strings.Compare(s.files[a].Path, s.files[b].Path))
	})
	return order, nil
}

// room is what the limits still allow.
type room struct {
	files int
	bytes int64
}

func (l Limits) room() room {
	r := room{math.MaxInt, math.MaxInt64}
	if l.MaxFiles > 0 {
		r.files = l.MaxFiles
	}
	if l.MaxBytes > 0 {
		r.bytes = l.MaxBytes
	}
	return r
}

// full says why there is no room for a file; empty when there is.
func (r room) full(f source.File) codesage.SkipReason {
	switch {
	case r.files == 0:
		return codesage.SkipMaxFiles
	case f.Size > r.bytes:
		return codesage.SkipMaxBytes
	}
	return ""
}

func (r *room) add(f source.File) {
	r.files--
	r.bytes -= f.Size
}

// preference orders files by how much they tell of a program: source files
// before documents before data and configuration; within a class what is
// neither vendored, generated nor a test first; then what lies nearer to the
// root. Of equals the path decides.
type preference struct {
	class    language.Kind
	foreign  int8 // 1 = vendored, generated or a test
	segments int32
}

// preferenceOf looks at a path, and whether it is one of a generated file only
// when that is to be known.
func preferenceOf(path string, generated bool) preference {
	p := preference{class: language.Data, segments: int32(strings.Count(path, "/"))}
	if label, ok := language.ByName(path); ok {
		p.class = language.Class(label)
	}
	if language.Vendored(path) || generated && language.Generated(path, nil) || language.Test(path) {
		p.foreign = 1
	}
	return p
}

func (p preference) compare(q preference) int {
	return cmp.Or(cmp.Compare(p.class, q.class), cmp.Compare(p.foreign, q.foreign), cmp.Compare(p.segments, q.segments))
}
