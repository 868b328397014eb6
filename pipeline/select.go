package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// Select chooses the files to index of those that a source listed. It decides
// what name and size can decide: binary by its ending, generated or of unknown
// language by its name, too large, beyond a limit. What only the content can
// tell is decided after reading: by decode (binary, encoding, git-lfs), and for
// git repositories by language (generated, unknown language), so fewer files
// than were selected may be indexed.
//
// When there are more files than the limits allow, those are taken that tell
// most of the program: see preference. Selected files come in the order of the
// list. So do skips, except that those beyond a limit come last.
func Select(files []source.File, l Limits) (selected []source.File, skips []codesage.Skip) {
	selected = make([]source.File, 0, len(files))
	for _, f := range files {
		if reason := l.leaveOut(f); reason != "" {
			skips = append(skips, codesage.Skip{Path: f.Path, Reason: reason})
			continue
		}
		selected = append(selected, f)
	}
	if l.hold(selected) {
		return selected, skips
	}
	return l.choose(selected, skips)
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

// hold reports whether files keep the limits.
func (l Limits) hold(files []source.File) bool {
	if l.MaxFiles > 0 && len(files) > l.MaxFiles {
		return false
	}
	var bytes int64
	for _, f := range files {
		bytes += f.Size
	}
	return l.MaxBytes <= 0 || bytes <= l.MaxBytes
}

// choose takes files in the order of preference while the limits hold. A file
// that would pass the limit of bytes is left out and smaller ones after it may
// still be taken.
func (l Limits) choose(files []source.File, skips []codesage.Skip) ([]source.File, []codesage.Skip) {
	type candidate struct {
		preference
		place int
	}
	order := make([]candidate, len(files))
	for i, f := range files {
		order[i] = candidate{preferenceOf(f.Path), i}
	}
	slices.SortFunc(order, func(a, b candidate) int {
		return cmp.Or(a.compare(b.preference), strings.Compare(files[a.place].Path, files[b.place].Path))
	})
	reasons := make([]codesage.SkipReason, len(files))
	taken, bytes := 0, int64(0)
	for _, c := range order {
		size := files[c.place].Size
		switch {
		case l.MaxFiles > 0 && taken == l.MaxFiles:
			reasons[c.place] = codesage.SkipMaxFiles
		case l.MaxBytes > 0 && bytes+size > l.MaxBytes:
			reasons[c.place] = codesage.SkipMaxBytes
		default:
			taken, bytes = taken+1, bytes+size
		}
	}
	selected := make([]source.File, 0, taken)
	for i, f := range files {
		if reasons[i] == "" {
			selected = append(selected, f)
			continue
		}
		skips = append(skips, codesage.Skip{Path: f.Path, Reason: reasons[i]})
	}
	return selected, skips
}

// preference orders files by how much they tell of a program: source files
// before documents before data and configuration; within a class what is
// neither vendored, generated nor a test first; then what lies nearer to the
// root. Of equals the path decides.
type preference struct {
	class    language.Kind
	foreign  int // 1 = vendored, generated or a test
	segments int
}

func preferenceOf(path string) preference {
	p := preference{class: language.Data, segments: strings.Count(path, "/")}
	if label, ok := language.ByName(path); ok {
		p.class = language.Class(label)
	}
	if language.Vendored(path) || language.Generated(path, nil) || language.Test(path) {
		p.foreign = 1
	}
	return p
}

func (p preference) compare(q preference) int {
	return cmp.Or(cmp.Compare(p.class, q.class), cmp.Compare(p.foreign, q.foreign), cmp.Compare(p.segments, q.segments))
}

// reasons in the order in which notices name them.
var reasons = []codesage.SkipReason{
	codesage.SkipMaxFiles, codesage.SkipMaxBytes, codesage.SkipLargeFile, codesage.SkipLargeText,
	codesage.SkipBinary, codesage.SkipParseTimeout, codesage.SkipParserCrash, codesage.SkipParseSize,
	codesage.SkipEncoding, codesage.SkipSymlink, codesage.SkipSubmodule, codesage.SkipLFS,
	codesage.SkipUnreadable, codesage.SkipPath, codesage.SkipGenerated, codesage.SkipLanguage,
}

// Notice says what a completed run left out, given the number of files that it
// indexed. It is empty when nothing is missing that a user would expect: files
// that are left out by rule (binary, links, too large, generated) are named only
// when others are missing too.
func Notice(indexed int, skipped map[codesage.SkipReason]int, l Limits) string {
	total, partial := indexed, false
	var parts []string
	for _, reason := range reasons {
		n := skipped[reason]
		if n == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %d", l.words(reason), n))
		partial = partial || reason.Partial()
		if !reason.Indexed() {
			total += n
		}
	}
	switch {
	case total == 0:
		return "No files to index: no files found"
	case indexed == 0:
		return "No files to index: " + strings.Join(parts, ", ")
	case partial:
		return fmt.Sprintf("Partially indexed: %d of %d files (%s)", indexed, total, strings.Join(parts, ", "))
	}
	return ""
}

// words names a reason together with the limit that was set.
func (l Limits) words(reason codesage.SkipReason) string {
	switch {
	case reason == codesage.SkipMaxFiles:
		return fmt.Sprintf("%s=%d", reason, l.MaxFiles)
	case reason == codesage.SkipLargeFile && l.MaxFileBytes > 0 && l.MaxFileBytes != 1_000_000:
		return fmt.Sprintf("limit INDEX_MAX_FILE_BYTES=%d", l.MaxFileBytes)
	case reason == codesage.SkipLargeText && l.MaxFileBytes > 0 && l.MaxFileBytes != 10<<20:
		return fmt.Sprintf("over %d bytes", l.MaxFileBytes)
	}
	return string(reason)
}
