package repositories

import (
	"context"
	"fmt"

	"codesage"
	"codesage/tools"
)

var analyzeRepository = tools.Spec{
	Name: "analyze_repository",
	Description: "Measure one repository: files, lines, entities, languages, top directories and largest files. " +
		"Use it first to learn what a repository contains.",
	Arguments: tools.Schema{Title: "AnalyzeRepositoryArgs", Fields: []tools.Field{repositoryField()}},
}

// analysisResult is what analyze_repository answers.
type analysisResult struct {
	Repository            string                      `json:"repository"`
	RepositoryID          codesage.RepositoryID       `json:"repository_id"`
	Status                codesage.Status             `json:"status"`
	TotalFiles            int                         `json:"total_files"`
	ProcessedFiles        int                         `json:"processed_files"`
	TotalLines            int                         `json:"total_lines"`
	TotalEntities         int                         `json:"total_entities"`
	EntitiesByType        map[codesage.EntityType]int `json:"entities_by_type"`
	FilesByLanguage       map[string]int              `json:"files_by_language"`
	Language              *string                     `json:"language"`
	Framework             *string                     `json:"framework"`
	TopDirectories        []directoryCount            `json:"top_directories"`
	LargestFiles          []fileLines                 `json:"largest_files"`
	DefinitionsByLanguage map[string]int              `json:"definitions_by_language"`
}

type directoryCount struct {
	Directory string `json:"directory"`
	Files     int    `json:"files"`
}

type fileLines struct {
	FilePath  string `json:"file_path"`
	LineCount int    `json:"line_count"`
}

func (s *set) analyzeRepository(ctx context.Context, a tools.Arguments) (any, error) {
	repo, snapshot, err := s.Catalog.Ready(ctx, a.String("repository"))
	if err != nil {
		return nil, err
	}
	found, err := s.Store.Analyze(ctx, snapshot)
	if err != nil {
		return nil, fmt.Errorf("analyze repository %d: %w", repo.ID, err)
	}
	run := repo.Published // Ready found a published run, and the tool tells of that one only
	result := analysisResult{
		Repository: repo.Name, RepositoryID: repo.ID, Status: codesage.StatusCompleted,
		TotalFiles: found.Files, ProcessedFiles: run.ProcessedFiles, TotalLines: found.Lines, TotalEntities: found.Entities,
		EntitiesByType:        orEmpty(found.EntitiesByType),
		FilesByLanguage:       orEmpty(found.FilesByLanguage),
		DefinitionsByLanguage: unknownNamed(found.EntitiesByLanguage),
		Language:              optional(run.Language),
		Framework:             optional(run.Framework),
		TopDirectories:        []directoryCount{},
		LargestFiles:          []fileLines{},
	}
	for _, d := range found.TopDirectories {
		result.TopDirectories = append(result.TopDirectories, directoryCount(d))
	}
	for _, f := range found.LargestFiles {
		result.LargestFiles = append(result.LargestFiles, fileLines{f.Path, f.Lines})
	}
	return result, nil
}

// orEmpty makes sure that JSON shows an object.
func orEmpty[K comparable](counts map[K]int) map[K]int {
	if counts == nil {
		return map[K]int{}
	}
	return counts
}

// unknownNamed groups what has no language under "unknown".
func unknownNamed(counts map[string]int) map[string]int {
	named := make(map[string]int, len(counts))
	for language, n := range counts {
		if language == "" {
			language = "unknown"
		}
		named[language] += n
	}
	return named
}
