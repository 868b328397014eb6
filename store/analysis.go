package store

import (
	"cmp"
	"slices"
	"strings"

	"codesage"
)

// topShown is how many directories and files an Analysis names.
const topShown = 10

// Analyzer makes an Analysis of the files that it is shown. The zero value is
// ready. It keeps a number for each language and top directory, not the files.
type Analyzer struct {
	a           Analysis
	directories map[string]int
}

// Add counts a file.
func (z *Analyzer) Add(f codesage.File) {
	if z.directories == nil {
		z.directories = map[string]int{}
		z.a.EntitiesByType = map[codesage.EntityType]int{}
		z.a.FilesByLanguage = map[string]int{}
		z.a.EntitiesByLanguage = map[string]int{}
	}
	z.a.Files++
	z.a.Lines += f.Lines
	z.a.Entities += f.Entities
	z.a.FilesByLanguage[f.Language]++
	if f.Entities > 0 {
		z.a.EntitiesByLanguage[f.Language] += f.Entities
	}
	directory, _, nested := strings.Cut(f.Path, "/")
	if !nested {
		directory = "(root)"
	}
	z.directories[directory]++
	z.addLargest(FileLines{Path: f.Path, Lines: f.Lines})
}

// addLargest keeps the largest files in their order.
func (z *Analyzer) addLargest(f FileLines) {
	at, _ := slices.BinarySearchFunc(z.a.LargestFiles, f, func(a, b FileLines) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Path, b.Path))
	})
	if at < topShown {
		z.a.LargestFiles = slices.Insert(z.a.LargestFiles, at, f)
		z.a.LargestFiles = z.a.LargestFiles[:min(topShown, len(z.a.LargestFiles))]
	}
}

// Analysis returns the counts, with the given numbers of entities by type.
func (z *Analyzer) Analysis(byType map[codesage.EntityType]int) Analysis {
	a := z.a
	a.EntitiesByType = byType
	for directory, files := range z.directories {
		a.TopDirectories = append(a.TopDirectories, DirectoryCount{Directory: directory, Files: files})
	}
	slices.SortFunc(a.TopDirectories, func(a, b DirectoryCount) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Directory, b.Directory))
	})
	a.TopDirectories = a.TopDirectories[:min(topShown, len(a.TopDirectories))]
	return a
}
