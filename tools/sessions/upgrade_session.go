package sessions

import (
	"context"
	"fmt"

	"codesage"
	"codesage/catalog"
	"codesage/tools"
)

var upgradeSession = tools.Spec{
	Name:        "upgrade_session",
	Description: "Bring a session that an older version stored to the current form. A current one is left alone.",
	Writes:      true,
	Slow:        true,
	Arguments:   tools.Schema{Title: "UpgradeSessionArgs", Fields: []tools.Field{sessionField()}},
}

func (s *set) upgradeSession(ctx context.Context, a tools.Arguments) (string, error) {
	repo, err := s.find(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	old := s.schema(repo)
	if old >= schemaVersion {
		return fmt.Sprintf("Session '%s' is already at schema v%d (current version). No upgrade needed.", repo.Session, old), nil
	}
	var done outcome
	if repo.Source == codesage.SourceGit {
		done, err = s.refresh(ctx, repo)
	} else {
		if err := s.checkOrigin(repo, "upgraded"); err != nil {
			return "", err
		}
		done, err = s.rebuild(ctx, catalog.FolderRequest{Path: repo.Path, Session: repo.Session, Options: repo.Options, Refresh: true}, "Re-indexing failed")
	}
	if err != nil {
		return "", worded(err, internal, "Re-indexing failed: ")
	}
	statistics, err := s.statistics(ctx, done)
	return fmt.Sprintf("# Session Upgraded: `%s`\n\n**Schema Migration:**\n- Previous version: v%d\n- Current version: v%d\n\n%s\n"+
		"Session is now compatible with the current schema.", repo.Session, old, schemaVersion, statistics), err
}
