package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"codesage"
	"codesage/store"
)

// Push is a push of which a git host told.
type Push struct {
	URL     string // of the repository, as the host writes it
	Branch  string // the branch that was pushed to
	Default string // the repository's default branch; empty when the host does not say
	Commit  string // the new head of Branch; empty when the host does not say
}

// PushResult says what came of a Push.
type PushResult string

// What can come of a push.
const (
	PushStarted     PushResult = "started"             // a run was started
	PushWaits       PushResult = "waits"               // a run that waits in the queue will see the push
	PushFollows     PushResult = "follows"             // a run is at work; its worker looks at the branch again after it
	PushOtherBranch PushResult = "branch not indexed"  // another branch than the indexed one
	PushIndexed     PushResult = "indexed already"     // the published index is of that commit
	PushUnknown     PushResult = "repository not here" // no repository has that URL
)

// Pushed starts a run of the repository that a push went to. The URL is compared
// without regard to case. A repository of the default branch follows the branch
// that the host names as such, or any when it names none: then the run finds out.
//
// While a run is at work no other is started, and none is lost: the worker asks
// the host for the head of the branch once more when the run has ended.
func (c *Catalog) Pushed(ctx context.Context, p Push) (codesage.Repository, PushResult, error) {
	repo, ok, err := c.byURL(ctx, p.URL)
	if err != nil || !ok {
		return repo, PushUnknown, err
	}
	wanted := repo.Branch
	if wanted == "" {
		wanted = p.Default
	}
	switch {
	case wanted != "" && wanted != p.Branch:
		return repo, PushOtherBranch, nil
	case repo.Latest != nil && repo.Latest.Going():
		return repo, waiting(repo.Latest), nil
	case repo.Published != nil && p.Commit != "" && repo.Published.Commit == p.Commit:
		return repo, PushIndexed, nil
	}
	repo, _, err = c.start(ctx, repo.ID, store.NewRun{Trigger: codesage.TriggerWebhook})
	switch {
	case errors.Is(err, codesage.ErrConflict):
		return repo, PushFollows, nil
	case errors.Is(err, codesage.ErrNotFound):
		return repo, PushUnknown, nil
	case err != nil:
		return repo, "", fmt.Errorf("start a run of %s after a push: %w", repo.Name, err)
	}
	return repo, PushStarted, nil
}

// waiting says how a run that is going will see a push.
func waiting(run *codesage.Run) PushResult {
	if run.Status == codesage.StatusPending {
		return PushWaits
	}
	return PushFollows
}

// byURL finds the repository of a URL in any form that can be added.
func (c *Catalog) byURL(ctx context.Context, url string) (codesage.Repository, bool, error) {
	if c.hosts == nil {
		return codesage.Repository{}, false, nil
	}
	wanted, err := c.hosts.Parse(url, "")
	if errors.Is(err, codesage.ErrInvalid) {
		return codesage.Repository{}, false, nil // no repository that could have been added
	}
	if err != nil {
		return codesage.Repository{}, false, err
	}
	all, err := c.store.ListRepositories(ctx)
	if err != nil {
		return codesage.Repository{}, false, fmt.Errorf("list repositories: %w", err)
	}
	for _, r := range all {
		if r.URL != "" && strings.EqualFold(r.URL, wanted.URL) {
			return r, true, nil
		}
	}
	return codesage.Repository{}, false, nil
}
