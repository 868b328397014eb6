package catalog

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"codesage"
	"codesage/store"
)

// FolderRequest asks to index a local folder.
type FolderRequest struct {
	Path    string
	Session string
	Options codesage.IndexOptions
	Force   bool // index again from scratch, and let the session take another folder
	Refresh bool // the session may be this folder's already

	Supersede bool // a run that is past its text pass is overtaken
}

// sessionPattern is what a session id may be made of; a new one begins with a
// letter or a digit.
var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// AddFolder starts to index a folder. A session that is there already is
// KindExists unless it is that folder's and Refresh is set, or Force is set and it
// is no git repository's. A run that is going is KindConflict, unless Supersede is
// set and its text pass is over.
// Without Force, a call that chooses no options keeps those of before.
// Path and options are the run's: readers see them when they see its files.
func (c *Catalog) AddFolder(ctx context.Context, q FolderRequest) (codesage.Repository, codesage.Run, error) {
	if !sessionPattern.MatchString(q.Session) {
		return codesage.Repository{}, codesage.Run{}, codesage.Errorf(codesage.KindInvalid,
			"session must be 1-64 characters of a-z, A-Z, 0-9, - and _, beginning with a letter or a digit (got %q)", q.Session)
	}
	path, err := c.checkRoot(q.Path)
	if err != nil {
		return codesage.Repository{}, codesage.Run{}, err
	}
	repo, run, err := c.store.CreateRepository(ctx, codesage.Repository{
		Name: q.Session, Session: q.Session, Source: codesage.SourceFolder, Path: path, Options: q.Options,
	})
	if errors.Is(err, codesage.ErrExists) {
		return c.readdFolder(ctx, repo, path, q)
	}
	if err != nil {
		return repo, run, fmt.Errorf("add folder %s: %w", path, err)
	}
	c.changed(ctx, "repository added", repo, "run", run.ID)
	c.enqueue(ctx, run)
	return repo, run, nil
}

// readdFolder indexes a session again.
func (c *Catalog) readdFolder(ctx context.Context, repo codesage.Repository, path string, q FolderRequest) (codesage.Repository, codesage.Run, error) {
	if repo.Source != codesage.SourceFolder {
		return repo, codesage.Run{}, codesage.Errorf(codesage.KindExists,
			"session '%s' is the git repository %s; choose another session id", repo.Session, repo.Name)
	}
	if repo.Path != path && !q.Force {
		return repo, codesage.Run{}, codesage.Errorf(codesage.KindExists,
			"session '%s' exists for %s; choose another session id, or index with force to replace it", repo.Session, repo.Path)
	}
	if going := repo.Latest; going != nil && going.Going() && (!q.Supersede || !textDone(repo, *going)) {
		return repo, *going, codesage.Errorf(codesage.KindConflict,
			"Indexing already in progress for session '%s'; wait until it has ended, or cancel it", repo.Session)
	}
	if !q.Force && !q.Refresh {
		return repo, codesage.Run{}, codesage.Errorf(codesage.KindExists,
			"session '%s' is there already; reprocess it, or index with force to do so from scratch", repo.Session)
	}
	n := store.NewRun{Trigger: codesage.TriggerReprocess, Force: q.Force, Supersede: q.Supersede, Path: path, Options: &q.Options}
	if !q.Force && q.Options.IsZero() {
		n.Options = nil // a plain refresh keeps what was chosen before
	}
	return c.start(ctx, repo.ID, n)
}

// textDone reports whether a run that goes on is past its text pass. The phase
// of its row may lag; the text pointer does not.
func textDone(repo codesage.Repository, going codesage.Run) bool {
	return going.Phase == codesage.PhaseSymbols || going.Phase == codesage.PhasePublish || repo.TextRun == going.ID
}

// Add checks a git URL with its host, stores it and starts to index it. The
// same URL again, case ignored, is KindExists, worded as the contract has it, and
// found before the host is asked; of two adds at the same moment the store lets
// one win. What the host refuses is KindInvalid, unless it has no such repository
// (KindNotFound), can't be reached (KindUnavailable) or is slow (KindTimeout).
func (c *Catalog) Add(ctx context.Context, url, branch, description string) (codesage.Repository, error) {
	if c.hosts == nil {
		return codesage.Repository{}, codesage.Errorf(codesage.KindUnavailable, "Git repositories can't be added to this server.")
	}
	wanted, err := c.hosts.Parse(url, branch)
	if err != nil {
		return codesage.Repository{}, err
	}
	if second, ok, err := c.byURL(ctx, wanted.URL); err != nil {
		return second, err
	} else if ok {
		return second, alreadyAdded(second)
	}
	if err := c.hosts.Preflight(ctx, wanted); err != nil {
		return codesage.Repository{}, refused(err)
	}
	wanted.Description = description
	repo, run, err := c.store.CreateRepository(ctx, wanted)
	if errors.Is(err, codesage.ErrExists) {
		return repo, alreadyAdded(repo)
	}
	if err != nil {
		return repo, fmt.Errorf("add %s: %w", wanted.URL, err)
	}
	c.changed(ctx, "repository added", repo, "run", run.ID)
	c.enqueue(ctx, run)
	return c.store.Repository(ctx, repo.ID)
}

// refused makes what a host denies, or what is too large, a refusal of the URL:
// KindDenied is for what this server denies its callers.
func refused(err error) error {
	var known *codesage.Error
	if !errors.As(err, &known) || known.Kind != codesage.KindDenied && known.Kind != codesage.KindTooLarge {
		return err
	}
	return &codesage.Error{Kind: codesage.KindInvalid, Message: known.Message, Err: known.Err}
}

func alreadyAdded(repo codesage.Repository) error {
	return codesage.Errorf(codesage.KindExists, "%s is already added as repository %d.", repo.Name, repo.ID)
}
