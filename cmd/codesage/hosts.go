package main

import (
	"context"
	"regexp"
	"strings"

	"codesage"
	"codesage/pipeline/source"
	"codesage/pipeline/source/git"
)

// gitHosts lets the catalog, the pipeline and the refresher ask git hosts.
type gitHosts struct{ source *git.Source }

// Fetch implements source.Source.
func (h gitHosts) Fetch(ctx context.Context, repo codesage.Repository) (source.Checkout, error) {
	return h.source.Fetch(ctx, repo)
}

// Parse makes a repository of a URL, before anything is sent.
func (h gitHosts) Parse(url, branch string) (codesage.Repository, error) {
	remote, err := git.ParseURL(url, branch)
	if err != nil {
		return codesage.Repository{}, err
	}
	return codesage.Repository{
		Name:    remote.Name,
		Session: gitSession(remote.Name),
		Source:  codesage.SourceGit,
		URL:     remote.URL,
		Branch:  remote.Branch,
	}, nil
}

// Preflight checks with the host that the repository can be indexed.
func (h gitHosts) Preflight(ctx context.Context, repo codesage.Repository) error {
	remote, err := git.ParseURL(repo.URL, repo.Branch)
	if err != nil {
		return err
	}
	_, err = h.source.Preflight(ctx, remote)
	return err
}

// Head returns the commit that the repository's branch is at.
func (h gitHosts) Head(ctx context.Context, repo codesage.Repository) (string, error) {
	head, err := h.source.Head(ctx, repo)
	return head.Commit, err
}

var outsideSession = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// maxSession leaves room for the -2, -3, … that make a session id unique.
const maxSession = 56

// gitSession makes a session id of a repository's name.
func gitSession(name string) string {
	id := strings.TrimLeft(outsideSession.ReplaceAllString(name, "-"), "-_")
	return id[:min(len(id), maxSession)]
}

// link returns the web page of lines of a file, on the hosts whose pages are
// known.
func link(repo codesage.Repository, ref, path string, start, end int) string {
	if repo.Source != codesage.SourceGit {
		return ""
	}
	return git.Link(repo.URL, ref, path, start, end)
}
