package sessions

import (
	"context"
	"errors"
	"fmt"

	"codesage"
	"codesage/tools"
	"codesage/trace"
)

var deleteSession = tools.Spec{
	Name:        "delete_session",
	Description: "Delete a session with all its data. The indexed files themselves stay.",
	Writes:      true,
	Destroys:    true,
	Arguments: tools.Schema{Title: "DeleteSessionArgs", Fields: []tools.Field{
		sessionField(),
		{Name: "confirm", Type: tools.Boolean, Required: true, Description: "Must be true"},
	}},
}

func (s *set) deleteSession(ctx context.Context, a tools.Arguments) (string, error) {
	if !a.Bool("confirm") {
		return "", failf(invalidRequest, "Deletion requires confirm=true parameter. This prevents accidental session deletion.")
	}
	id := a.String("session")
	repo, err := s.find(ctx, id)
	if err != nil {
		return "", err
	}
	if inTextPass(repo) && repo.Latest.Status == codesage.StatusProcessing { // one that waits is taken back
		return "", inProgress(id)
	}
	var t totals
	if x, err := s.readable(repo); err == nil {
		if t, err = s.totals(ctx, x); err != nil {
			trace.Log(ctx, s.Log).Warn("session to delete can't be read", "session", id, "err", err)
			t = totals{bytes: s.Index.Size(ctx, x.snapshot)}
		}
	}
	switch err := s.Catalog.Remove(ctx, repo.ID); {
	case errors.Is(err, codesage.ErrNotFound):
		return "", failf(noSession, "Session not found: %s", id)
	case ctx.Err() != nil:
		return "", fmt.Errorf("delete session %s: %w", id, ctx.Err())
	case err != nil:
		trace.Log(ctx, s.Log).Error("delete session", "session", id, "err", err)
		return "", failf(internal, "Failed to delete session: %s", reason(err))
	}
	return fmt.Sprintf("**Session Deleted:** `%s`\n\n**Freed Resources:**\n- Files indexed: %s\n- Chunks removed: %s\n"+
		"- Disk space freed: %s\n\nSession data and index permanently deleted.", id, count(t.files), count(t.chunks), byteSize(t.bytes)), nil
}
