package api

import (
	"time"

	"codesage"
	"codesage/tools/repositories"
)

// object is a repository as REST shows it: what list_repositories shows, and
// more.
type object struct {
	repositories.Listed
	Session        string              `json:"session"`
	Source         codesage.SourceKind `json:"source"`
	ProcessedFiles int                 `json:"processed_files"`
	Description    *string             `json:"description"`
	Language       *string             `json:"language"`
	Framework      *string             `json:"framework"`
	CreatedAt      *string             `json:"created_at"`
	UpdatedAt      *string             `json:"updated_at"`
}

func newObject(r codesage.Repository) object {
	o := object{
		Listed: repositories.List(r), Session: r.Session, Source: r.Source,
		ProcessedFiles: r.Counted().ProcessedFiles, Description: optional(r.Description),
		CreatedAt: timestamp(r.CreatedAt), UpdatedAt: timestamp(r.UpdatedAt),
	}
	if r.Published != nil {
		o.Language, o.Framework = optional(r.Published.Language), optional(r.Published.Framework)
	}
	return o
}

// optional is nil for an empty text, which JSON shows as null.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timestamp is ISO 8601 with microseconds where there are any, in UTC with a
// +00:00 offset; nil for the zero time.
func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	layout := "2006-01-02T15:04:05-07:00"
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() != 0 {
		layout = "2006-01-02T15:04:05.000000-07:00"
	}
	text := t.Format(layout)
	return &text
}
