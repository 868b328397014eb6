package git

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing/transport"

	"codesage"
)

// Preflight asks the host whether the repository and the branch are there and
// returns the branch's head. github.com is asked by its REST API, other hosts
// for their references.
//
// The message of an error is the one that the caller of add_repository reads.
// Kinds: KindInvalid for a repository that can't be indexed (a private address,
// an unknown name, no commits, no such branch), KindNotFound, KindDenied,
// KindUnavailable (unreachable, rate limit, refused token), KindTimeout after
// Config.PreflightTimeout. The context's own end comes back as it is.
func (s *Source) Preflight(ctx context.Context, r Remote) (Head, error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.cfg.PreflightTimeout, errTime)
	defer cancel()
	ask := s.listHead
	if r.GitHub() {
		ask = s.askGitHub
	}
	head, err := ask(limited, r)
	if err != nil {
		return Head{}, s.explain(ctx, r, operation{}, withCause(limited, err))
	}
	return head, nil
}

// Head returns the head of a stored repository's branch, for the regular check
// whether there is something new. It lists references on every host, since
// GitHub's API has a rate limit and its git service has none. Errors are those
// of Preflight.
func (s *Source) Head(ctx context.Context, repo codesage.Repository) (Head, error) {
	r, err := remoteOf(repo)
	if err != nil {
		return Head{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.cfg.PreflightTimeout, errTime)
	defer cancel()
	head, err := s.listHead(limited, r)
	if err != nil {
		return Head{}, s.explain(ctx, r, operation{}, withCause(limited, err))
	}
	return head, nil
}

// listHead finds the head by listing references.
func (s *Source) listHead(ctx context.Context, r Remote) (Head, error) {
	l, _, err := s.list(ctx, r, maxRefBytes+maxErrorBody)
	if err != nil {
		return Head{}, err
	}
	l.peer.close()
	return l.head, nil
}

// isEmpty reports whether an error says that a repository has no commits.
func isEmpty(err error) bool {
	return errors.Is(err, errEmpty) || errors.Is(err, transport.ErrEmptyRemoteRepository)
}
