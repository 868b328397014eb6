package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"codesage/api/client"
)

// question makes a call; the mix has each as often as it stands there.
type question func(r *rand.Rand) client.Call

// prepare finds out what there is to ask about.
func prepare(ctx context.Context, o options) ([]question, error) {
	c, err := client.New(client.Config{BaseURL: o.url, Key: o.key})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	all, err := c.Repositories(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	var names, paths []string
	for _, repo := range all {
		resource, err := c.ReadResource(ctx, fmt.Sprintf("codesage://repositories/%d/files", repo.ID))
		if err != nil {
			continue // not indexed yet
		}
		var content struct {
			Files []struct {
				Path string `json:"file_path"`
			} `json:"files"`
		}
		if err := json.Unmarshal(resource.Content, &content); err != nil {
			return nil, fmt.Errorf("read the files of %s: %w", repo.Name, err)
		}
		for _, f := range content.Files[:min(len(content.Files), 200)] {
			names, paths = append(names, repo.Name), append(paths, f.Path)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the server has no indexed repository; add one first")
	}
	return mix(names, paths), nil
}

// words are what the clients search for.
var words = strings.Fields("server client parse config index search queue store error context read write open close file " +
	"run test handler request answer list token cache path line start stop publish")

// mix is what assistants ask: mostly searches and files. names[i] is the
// repository that has the file paths[i].
func mix(names, paths []string) []question {
	one := func(r *rand.Rand) string { return words[r.IntN(len(words))] }
	name := func(r *rand.Rand) string { return names[r.IntN(len(names))] }
	search := func(r *rand.Rand) client.Call {
		return call("search_code", map[string]any{"query": one(r) + " " + one(r), "limit": 1 + r.IntN(20)})
	}
	file := func(r *rand.Rand) client.Call {
		i := r.IntN(len(names))
		return call("get_file", map[string]any{"repository": names[i], "path": paths[i]})
	}
	return []question{
		search, search, search, search, file, file, file,
		func(r *rand.Rand) client.Call {
			return call("list_definitions", map[string]any{"repository": name(r), "name": one(r)})
		},
		func(r *rand.Rand) client.Call {
			return call("find_patterns", map[string]any{"repository": name(r), "pattern": one(r), "max_results": 50})
		},
		func(r *rand.Rand) client.Call {
			return call("analyze_repository", map[string]any{"repository": name(r)})
		},
		func(*rand.Rand) client.Call { return call("list_repositories", nil) },
	}
}

func call(tool string, arguments map[string]any) client.Call {
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // maps of strings and numbers can be written
	}
	if arguments == nil {
		raw = nil
	}
	return client.Call{Tool: tool, Arguments: raw}
}

// results are how long the good answers took, by tool, and how often what went
// wrong.
type results struct {
	took   map[string][]time.Duration
	faults map[string]int
}

// ask lets all clients ask until the time is over.
func ask(ctx context.Context, o options, questions []question) (results, error) {
	ctx, cancel := context.WithTimeout(ctx, o.length)
	defer cancel()
	all := results{map[string][]time.Duration{}, map[string]int{}}
	var mu sync.Mutex
	var done sync.WaitGroup
	for n := range o.clients {
		c, err := client.New(client.Config{BaseURL: o.url, Key: o.key})
		if err != nil {
			return all, err
		}
		done.Go(func() {
			defer c.Close()
			r := rand.New(rand.NewPCG(1, uint64(n)))
			for ctx.Err() == nil {
				q := questions[r.IntN(len(questions))](r)
				began := time.Now()
				answer, err := c.CallTool(context.WithoutCancel(ctx), q)
				took := time.Since(began)
				mu.Lock()
				all.add(q.Tool, took, answer, err)
				mu.Unlock()
			}
		})
	}
	done.Wait()
	return all, nil
}

func (x results) add(tool string, took time.Duration, answer client.Envelope, err error) {
	var status *client.StatusError
	switch {
	case errors.As(err, &status):
		x.faults[fmt.Sprintf("%s: status %d", tool, status.Status)]++
	case err != nil:
		x.faults[fmt.Sprintf("%s: %v", tool, err)]++
	case answer.IsError:
		x.faults[fmt.Sprintf("%s: %.100s", tool, answer.Error)]++
	default:
		x.took[tool] = append(x.took[tool], took)
	}
}

// print shows the results and returns how many calls went wrong.
func (x results) print(w io.Writer, length time.Duration) (wrong int) {
	fmt.Fprintf(w, "%-20s %8s %10s %10s %10s %10s\n", "tool", "calls", "p50", "p90", "p99", "max")
	var all []time.Duration
	for _, tool := range slices.Sorted(maps.Keys(x.took)) {
		all = append(all, x.took[tool]...)
		printRow(w, tool, x.took[tool])
	}
	printRow(w, "all", all)
	for _, fault := range slices.Sorted(maps.Keys(x.faults)) {
		fmt.Fprintf(w, "%8d × %s\n", x.faults[fault], fault)
		wrong += x.faults[fault]
	}
	fmt.Fprintf(w, "%.0f good answers a second, %d calls went wrong\n", float64(len(all))/length.Seconds(), wrong)
	return wrong
}

func printRow(w io.Writer, name string, took []time.Duration) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	at := func(share float64) string {
		return took[min(len(took)-1, int(share*float64(len(took))))].Round(100 * time.Microsecond).String()
	}
	fmt.Fprintf(w, "%-20s %8d %10s %10s %10s %10s\n", name, len(took), at(.5), at(.9), at(.99), at(1))
}
