package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"codesage"
	"codesage/pipeline/source"
	"codesage/trace"
)

// Fetch gets the newest commit of the repository's branch. The pack is read
// once, as it arrives, and its limits are checked before anything is inflated.
//
// Errors: KindInvalid for a repository that can't be indexed as it is,
// KindNotFound, KindDenied, KindTooLarge for a limit of the pack,
// KindUnavailable for a host that is not there or answers nonsense, KindTimeout.
// The context's own end comes back as it is. Nothing is left in the temporary
// folder on any of them.
func (s *Source) Fetch(ctx context.Context, repo codesage.Repository) (source.Checkout, error) {
	r, err := remoteOf(repo)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, s.cfg.CloneTimeout, errTime)
	defer cancel()
	c, err := s.fetch(limited, r)
	if err != nil {
		return nil, s.explain(ctx, r, operation{clone: true}, err)
	}
	trace.Log(ctx, s.log).Debug("fetched a repository", "repository", r.Name, "commit", c.commit,
		"objects", len(c.objects.entries), "bytes", c.objects.heap.written, "seconds", time.Since(began).Seconds())
	return c, nil
}

// fetch is Fetch without the words.
func (s *Source) fetch(ctx context.Context, r Remote) (*checkout, error) {
	l, ctx, err := s.list(ctx, r, s.cfg.CloneMaxBytes)
	if err != nil {
		return nil, err
	}
	defer l.peer.close()
	h, err := newHeap(s.cfg.TempDir)
	if err != nil {
		return nil, err
	}
	objs, err := s.receive(ctx, l, h)
	if err != nil {
		return nil, errors.Join(withCause(ctx, err), h.close())
	}
	c := &checkout{commit: l.head.Commit, objects: objs}
	if err := c.findTree(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return c, nil
}

// receive asks for the head and unpacks what comes.
func (s *Source) receive(ctx context.Context, l *listing, h *heap) (*objects, error) {
	req := l.request()
	res, err := l.session.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	done := func() { _ = res.Close() }
	defer done()
	var pack io.Reader = res
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, res)
	case req.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, res)
	}
	limits := packLimits{object: MaxObjectBytes, total: s.cfg.CloneMaxBytes, count: MaxObjects}
	objs, err := unpack(ctx, pack, h, limits, done)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return objs, nil
}
