package algolia

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	client "github.com/algolia/algoliasearch-client-go/v3/algolia/search"

	"codesage"
	"codesage/search"
	"codesage/trace"
)

// stored is what of a record is needed to decide whether it stays.
type stored struct {
	ObjectID   string                `json:"objectID"`
	Repository codesage.RepositoryID `json:"repository_id"`
	Run        codesage.RunID        `json:"run"`
}

// browsing is the body of a browse; a cursor stands for the rest of it.
type browsing struct {
	Cursor               string   `json:"cursor,omitempty"`
	Filters              string   `json:"filters,omitempty"`
	HitsPerPage          int      `json:"hitsPerPage,omitempty"`
	AttributesToRetrieve []string `json:"attributesToRetrieve,omitempty"`
}

// browse calls visit with every record that a filter matches.
func (e *Engine) browse(ctx context.Context, filters string, visit func(stored)) error {
	body := browsing{Filters: filters, HitsPerPage: maxBatch, AttributesToRetrieve: []string{"repository_id", "run"}}
	for {
		r, err := e.post(ctx, "browse", triesOfWrite, body)
		if err != nil {
			return err
		}
		for _, data := range r.Hits {
			var found stored
			if err := json.Unmarshal(data, &found); err != nil {
				return &failure{text: "decode browsed record: " + err.Error()}
			}
			if found.ObjectID == "" {
				return errNoObjectID
			}
			visit(found)
		}
		if r.Cursor == "" {
			return nil
		}
		body = browsing{Cursor: r.Cursor}
	}
}

// remove deletes records and waits until they are gone.
func (e *Engine) remove(ctx context.Context, ids []string) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var tasks []int64
	for chunk := range slices.Chunk(ids, maxBatch) {
		var ops []client.BatchOperation
		for _, id := range chunk {
			ops = append(ops, client.BatchOperation{Action: client.DeleteObject, Body: map[string]string{"objectID": id}})
		}
		task, err := e.batch(ctx, ops)
		if err != nil {
			return err
		}
		tasks = append(tasks, task)
	}
	for _, task := range tasks {
		if err := e.await(ctx, task); err != nil {
			return err
		}
	}
	return nil
}

// Retain implements search.Engine. Records of repositories that keep names stay
// as they are: those that a run left which was never published are the business
// of the next Begin.
//
// keep is asked twice: first to know where to look, so that the records of all
// others need not be listed, and when there are any, again after they were noted.
// A repository that another process has added in between is named by then.
func (e *Engine) Retain(ctx context.Context, keep search.Keep) error {
	known, err := keep(ctx)
	if err != nil {
		return err
	}
	foreign := map[codesage.RepositoryID][]string{}
	for spans := range slices.Chunk(complement(idSpans(slices.Collect(maps.Keys(known)))), maxSpans) {
		err := e.browse(ctx, spansFilter(spans), func(s stored) {
			foreign[s.Repository] = append(foreign[s.Repository], s.ObjectID)
		})
		if err != nil {
			return unavailable(err)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	if known, err = keep(ctx); err != nil {
		return err
	}
	for _, repo := range slices.Sorted(maps.Keys(foreign)) {
		if _, isKnown := known[repo]; isKnown {
			continue
		}
		if err := e.drop(ctx, repo, foreign[repo]); err != nil {
			return unavailable(err)
		}
	}
	return nil
}

// drop removes the records of a repository unless a writer is at work in it.
func (e *Engine) drop(ctx context.Context, repo codesage.RepositoryID, ids []string) error {
	l := e.writerLock(repo)
	if !l.try() {
		return nil
	}
	defer l.release()
	if err := e.remove(ctx, ids); err != nil {
		return fmt.Errorf("remove records of repository %d: %w", repo, err)
	}
	trace.Log(ctx, e.c.Log).Info("removed the search records of a repository", "repository", repo, "records", len(ids))
	return nil
}
