package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"codesage"
	"codesage/api/client"
)

func TestASecondRunParsesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := newTree(3, 120, 1)
	files.write(t, folder)
	s := newServer(t)
	repo, first := s.index(folder, "twice")
	if first.KeptFiles != 0 || first.TotalFiles != len(files) || first.ProcessedFiles != len(files) {
		t.Errorf("first run: %d files, %d processed, %d kept; want %d, all, 0", first.TotalFiles, first.ProcessedFiles, first.KeptFiles, len(files))
	}
	before := tellEverything(t, s, repo.ID)
	_, second := s.index(folder, "twice")
	if second.ID == first.ID || second.ParsedFiles != 0 || second.KeptFiles != len(files) || second.TotalEntities != first.TotalEntities {
		t.Errorf("second run: %d parsed, %d kept of %d, %d entities; want 0, all, %d", second.ParsedFiles, second.KeptFiles, second.TotalFiles, second.TotalEntities, first.TotalEntities)
	}
	checkSame(t, tellEverything(t, s, repo.ID), before)

	changed := sharedPath(files, files)
	writeFiles(t, folder, map[string]string{changed: "package p\n\nfunc Altered() {}\n", "fresh.py": "def fresh(): pass\n"})
	if err := os.Chtimes(filepath.Join(folder, otherPath(files, changed)), first.CreatedAt, first.CreatedAt); err != nil {
		t.Fatal(err)
	}
	_, third := s.index(folder, "twice")
	if third.ParsedFiles != 2 || third.KeptFiles != len(files)-1 {
		t.Errorf("third run: %d parsed, %d kept; want 2 and %d", third.ParsedFiles, third.KeptFiles, len(files)-1)
	}
	for name, want := range map[string]int{"Altered": 1, "fresh": 1} {
		if got := must[definitionsResult](t, s, "list_definitions", args{"repository": "twice", "name": name}); got.Total != want {
			t.Errorf("%d definitions of %s, want %d", got.Total, name, want)
		}
	}
}

// otherPath is a file of the tree that is not the given one.
func otherPath(f tree, path string) string {
	best := ""
	for p := range f {
		if p != path && (best == "" || p < best) {
			best = p
		}
	}
	return best
}

func TestProgressMovesAndNeverGoesBack(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	newTree(5, 3000, 1).write(t, folder)
	writeFiles(t, folder, map[string]string{"invoice/slow.sh": slowScript, "reader/slow.sh": slowScript})
	s := newServer(t, "PARSE_PROCESSES=1")
	repo := s.add(folder, "moving")
	seen := watchProgress(t, s, repo.ID)
	if len(seen) < 3 {
		t.Errorf("only saw %v while the run went on", seen)
	}
	t.Logf("saw %v", seen)
}

// TestAllToolsCountTheSameFiles indexes a folder of which the content of many
// files rules them out.
func TestAllToolsCountTheSameFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := newTree(7, 300, 1)
	files.write(t, folder)
	for i := range 100 {
		writeFiles(t, folder, map[string]string{
			fmt.Sprintf("left/binary%d", i):       "\x00\x01\x02",
			fmt.Sprintf("left/encoding%d.txt", i): "\x81\x82\x83\x84\x01\x02\x03",
		})
	}
	s := newServer(t)
	repo := s.add(folder, "mixed")
	seen := watchProgress(t, s, repo.ID)
	for _, text := range seen {
		if _, total, _ := strings.Cut(text, "/"); total != strconv.Itoa(len(files)) {
			t.Errorf("saw %s files while the run went on, want %d", text, len(files))
		}
	}
	analyzed := must[map[string]any](t, s, "analyze_repository", args{"repository": "mixed"})["total_files"].(float64)
	got := []int{
		must[listResult](t, s, "list_repositories", nil).Repositories[0].TotalFiles,
		int(analyzed), len(paths(t, s, int64(repo.ID))), s.newest(repo.ID).TotalFiles,
	}
	if want := slices.Repeat([]int{len(files)}, len(got)); !slices.Equal(got, want) {
		t.Errorf("list_repositories, analyze_repository, the files resource and the run count %v files, want %v", got, want)
	}
}

// watchProgress follows list_repositories and REST until a run has ended, and
// checks what they say; it returns the different n/m that it saw in between.
func watchProgress(t *testing.T, s *server, id codesage.RepositoryID) (seen []string) {
	t.Helper()
	var last client.Repository
	s.eventually("the run ends", func() bool {
		now, err := s.api.Repository(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%d/%d", now.ProcessedFiles, now.TotalFiles)
		if now.Status == codesage.StatusProcessing && now.TotalFiles > 0 && (len(seen) == 0 || seen[len(seen)-1] != text) {
			seen = append(seen, text)
			if listed := must[listResult](t, s, "list_repositories", nil).Repositories[0]; listed.TotalFiles < now.TotalFiles {
				t.Errorf("list_repositories says %d files after REST said %d", listed.TotalFiles, now.TotalFiles)
			}
		}
		checkForward(t, last, now)
		last = now
		return now.Status == codesage.StatusCompleted || now.Status == codesage.StatusFailed
	})
	if last.Status != codesage.StatusCompleted || last.ProcessedFiles != last.TotalFiles || last.TotalFiles == 0 {
		t.Errorf("ended as %s with %d/%d: %s", last.Status, last.ProcessedFiles, last.TotalFiles, last.ErrorMessage)
	}
	return seen
}

func checkForward(t *testing.T, last, now client.Repository) {
	t.Helper()
	if now.ProcessedFiles < last.ProcessedFiles || now.TotalFiles < last.TotalFiles || now.TotalEntities < last.TotalEntities {
		t.Errorf("progress went back from %d/%d, %d entities to %d/%d, %d",
			last.ProcessedFiles, last.TotalFiles, last.TotalEntities, now.ProcessedFiles, now.TotalFiles, now.TotalEntities)
	}
	if now.ProcessedFiles > now.TotalFiles {
		t.Errorf("%d files of %d are processed", now.ProcessedFiles, now.TotalFiles)
	}
}
