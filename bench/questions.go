package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"codesage"
	"codesage/api/client"
)

// Questions are what assistants ask about a repository: mostly searches and
// files, each as often as it is in the list. A repository without files is an
// error of KindConflict.
func Questions(ctx context.Context, c *client.Client, repo client.Repository) ([]Question, error) {
	resource, err := c.ReadResource(ctx, fmt.Sprintf("codesage://repositories/%d/files", repo.ID))
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", repo.Name, err)
	}
	var list struct {
		Files []struct {
			Path string `json:"file_path"`
		} `json:"files"`
	}
	if err := json.Unmarshal(resource.Content, &list); err != nil {
		return nil, fmt.Errorf("read the list of the files of %s: %w", repo.Name, err)
	}
	if len(list.Files) == 0 {
		return nil, codesage.Errorf(codesage.KindConflict, "%s has no indexed files yet; `codesage status %d` tells how it stands", repo.Name, repo.ID)
	}
	paths := make([]string, len(list.Files))
	for i, f := range list.Files {
		paths[i] = f.Path
	}
	return mix(strconv.FormatInt(int64(repo.ID), 10), paths), nil
}

// mix asks about the repository of an id, which has some files.
func mix(id string, paths []string) []Question {
	words := wordsOf(paths)
	word := func(r *rand.Rand) string { return words[r.IntN(len(words))] }
	search := func(r *rand.Rand) client.Call {
		return call("search_code", map[string]any{"repository": id, "query": word(r) + " " + word(r), "limit": 1 + r.IntN(20)})
	}
	file := func(r *rand.Rand) client.Call {
		return call("get_file", map[string]any{"repository": id, "path": paths[r.IntN(len(paths))]})
	}
	return []Question{
		search, search, search, search, file, file, file,
		func(r *rand.Rand) client.Call {
			return call("list_definitions", map[string]any{"repository": id, "name": word(r)})
		},
		func(r *rand.Rand) client.Call {
			return call("find_patterns", map[string]any{"repository": id, "pattern": word(r), "max_results": 50})
		},
		func(*rand.Rand) client.Call {
			return call("analyze_repository", map[string]any{"repository": id})
		},
		func(*rand.Rand) client.Call { return call("list_repositories", map[string]any{}) },
	}
}

// common are words that most code has.
var common = strings.Fields("server client parse config index search queue store error context read write open close file " +
	"run test handler request answer list token cache path line start stop publish")

var nameWord = regexp.MustCompile(`\pL{3,30}`)

// wordsOf are the common words and those of the files' names, so that many
// searches find something in any code.
func wordsOf(paths []string) []string {
	words := slices.Clone(common)
	seen := map[string]bool{}
	for _, p := range paths {
		name := path.Base(p)
		for _, w := range nameWord.FindAllString(strings.TrimSuffix(name, path.Ext(name)), -1) {
			if !seen[w] {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

func call(tool string, arguments map[string]any) client.Call {
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // maps of strings and numbers can be written
	}
	return client.Call{Tool: tool, Arguments: raw}
}
