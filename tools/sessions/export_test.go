package sessions

import (
	"context"
	"fmt"
)

// AllReferences returns "path:line pattern confidence" of every reference to a
// symbol, without the limit of a call, the best first.
func AllReferences(ctx context.Context, d Deps, id, symbol string) (lines []string, err error) {
	s := newSet(d)
	repo, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	x, err := s.readable(repo)
	if err != nil {
		return nil, err
	}
	refs, err := s.references(ctx, x, wanted{symbol: symbol, kind: "any"})
	sortReferences(refs)
	for _, r := range refs {
		lines = append(lines, fmt.Sprintf("%s:%d %s %d", r.file.Path, r.line, r.pattern, r.confidence))
	}
	return lines, err
}
