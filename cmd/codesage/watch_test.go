package main

import (
	"context"
	"testing"

	"codesage"
)

func TestServeKeepsFoldersFresh(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Before() {}\n"})
	s := newServer(t, "FOLDER_WATCH=")
	repo, _ := s.index(folder, "fresh")
	found := func(name string) func() bool {
		return func() bool {
			return must[definitionsResult](t, s, "list_definitions", args{"repository": "fresh", "name": name}).Total == 1
		}
	}
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc After() {}\n"})
	s.eventually("the edit is found", found("After"))

	// What changes while no server runs is found when one does.
	s.stop()
	writeFiles(t, folder, map[string]string{"in/b.go": "package in\n\nfunc Meanwhile() {}\n"})
	s.start()
	s.eventually("the new file is found", found("Meanwhile"))
	runs, err := s.api.Runs(context.Background(), repo.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := runs[0].Trigger; got != codesage.TriggerWatch {
		t.Errorf("the run was started by %q, want %q", got, codesage.TriggerWatch)
	}
}
