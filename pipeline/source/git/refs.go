package git

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

var (
	errNoBranch = errors.New("the branch does not exist")
	errEmpty    = errors.New("the repository has no commits")
	errSHA256   = errors.New("the repository has sha256 objects")
)

// Head is the state of a branch.
type Head struct {
	Branch string // empty when the host's head is not on a branch
	Commit string // 40 hex digits
}

// listing is a repository whose references have been listed and from which the
// head can be fetched.
type listing struct {
	peer    *peer
	session transport.UploadPackSession
	caps    *capability.List
	head    Head
}

// list connects to a repository and finds its head. The context that it returns
// is the one to fetch with. The caller closes the peer unless there is an error.
func (s *Source) list(ctx context.Context, r Remote, limit int64) (*listing, context.Context, error) {
	base := &url.URL{Scheme: "https", Host: r.Host}
	p, ctx, err := s.connect(ctx, base, s.addresses(r.Host), limit)
	if err != nil {
		return nil, ctx, err
	}
	if r.GitHub() && s.token != "" {
		p.auth = basicAuth(s.token)
	}
	l, err := p.list(ctx, "/"+r.Path+".git", r.Branch)
	// Servers of bare folders know the repository by one of its two names only.
	if missing(err) && !r.GitHub() && r.Host != hostGitLab && r.Host != hostBitbucket {
		l, err = p.list(ctx, "/"+r.Path, r.Branch)
	}
	if err != nil {
		err = withCause(ctx, err)
		p.close()
		return nil, ctx, err
	}
	return l, ctx, nil
}

// list lists the references at a path.
func (p *peer) list(ctx context.Context, path, branch string) (*listing, error) {
	session, err := p.session(path)
	if err != nil {
		return nil, err
	}
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		if p.advertises("object-format=sha256") {
			return nil, errors.Join(errSHA256, err)
		}
		return nil, err
	}
	head, err := findHead(refs, branch)
	return &listing{peer: p, session: session, caps: refs.Capabilities, head: head}, err
}

// findHead returns the head of a branch, or of the default branch.
func findHead(refs *packp.AdvRefs, branch string) (Head, error) {
	if branch != "" {
		hash, ok := refs.References["refs/heads/"+branch]
		if !ok {
			return Head{}, errNoBranch
		}
		return Head{Branch: branch, Commit: hash.String()}, nil
	}
	branches := branchNames(refs)
	if refs.Head == nil {
		// The host's head names a branch that is not there.
		if len(branches) == 0 {
			return Head{}, errEmpty
		}
		return Head{Branch: branches[0], Commit: refs.References["refs/heads/"+branches[0]].String()}, nil
	}
	head := Head{Commit: refs.Head.String()}
	if name, ok := headTarget(refs.Capabilities); ok {
		head.Branch = name
		return head, nil
	}
	// An old server does not say which branch its head is.
	for _, name := range branches {
		if refs.References["refs/heads/"+name] == *refs.Head {
			head.Branch = name
			break
		}
	}
	return head, nil
}

// branchNames lists the branches: main and master first, then by name.
func branchNames(refs *packp.AdvRefs) []string {
	var names []string
	for ref := range refs.References {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			names = append(names, name)
		}
	}
	usual := func(name string) int {
		return 2 - slices.Index([]string{"master", "main"}, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := usual(a) - usual(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// headTarget reads the branch of the head from the capabilities.
func headTarget(caps *capability.List) (branch string, ok bool) {
	for _, value := range caps.Get(capability.SymRef) {
		if target, found := strings.CutPrefix(value, "HEAD:refs/heads/"); found {
			return target, true
		}
	}
	return "", false
}

// request asks for the head's commit and what its tree needs, no more.
func (l *listing) request() *packp.UploadPackRequest {
	req := packp.NewUploadPackRequestFromCapabilities(l.caps)
	req.Wants = []plumbing.Hash{plumbing.NewHash(l.head.Commit)}
	if l.caps.Supports(capability.Shallow) {
		req.Depth = packp.DepthCommits(1)
		_ = req.Capabilities.Set(capability.Shallow)
	}
	if l.caps.Supports(capability.NoProgress) {
		_ = req.Capabilities.Set(capability.NoProgress)
	}
	// go-git leaves it out, and Azure DevOps serves no client without it. There
	// is nothing to acknowledge, since nothing is offered.
	if l.peer.advertises("multi_ack_detailed") {
		_ = req.Capabilities.Set(capability.MultiACKDetailed)
	}
	return req
}

// missing reports whether a host answered that there is no such repository, or
// none for us. Hosts don't tell the two apart.
func missing(err error) bool {
	return errors.Is(err, transport.ErrRepositoryNotFound) || errors.Is(err, transport.ErrAuthenticationRequired) ||
		errors.Is(err, transport.ErrAuthorizationFailed)
}

// withCause adds why the context of a peer ended, which go-git's errors lose.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return errors.Join(cause, err)
	}
	return err
}
