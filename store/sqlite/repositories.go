package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"codesage"
	"codesage/trace"
)

// querier is a transaction or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// CreateRepository implements store.Repositories. The one writer makes the
// look-up and the insert atomic.
func (s *Store) CreateRepository(ctx context.Context, r codesage.Repository) (made codesage.Repository, run codesage.Run, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		id, err := sameRepository(ctx, tx, r)
		if err != nil {
			return err
		}
		if id != 0 {
			if made, err = oneRepository(ctx, tx, id); err != nil {
				return err
			}
			return codesage.Errorf(codesage.KindExists, "%s is there already as repository %d", made.Name, id)
		}
		if r.Source == codesage.SourceGit {
			if r.Session, err = freeSession(ctx, tx, r.Session); err != nil {
				return err
			}
		}
		if id, err = insertRepository(ctx, tx, r); err != nil {
			return err
		}
		if run, err = insertRun(ctx, tx, newRun{repository: id, trigger: codesage.TriggerAdd, priority: codesage.PriorityFirst, path: r.Path, options: r.Options}); err != nil {
			return err
		}
		made, err = oneRepository(ctx, tx, id)
		return err
	})
	return made, run, err
}

// sameRepository returns the repository that has r's URL or, for a folder, its
// session; 0 when there is none.
func sameRepository(ctx context.Context, tx querier, r codesage.Repository) (id codesage.RepositoryID, err error) {
	session := ""
	if r.Source == codesage.SourceFolder {
		session = r.Session
	}
	err = tx.QueryRowContext(ctx, `
		SELECT id
		FROM repositories
		WHERE deleted = 0
			AND (url_folded = ?1 AND ?1 <> '' OR session = ?2 AND ?2 <> '')
		ORDER BY id
		LIMIT 1`, strings.ToLower(r.URL), session).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// freeSession returns the session id, or the first of it with -2, -3, … that no
// repository has.
func freeSession(ctx context.Context, tx querier, session string) (string, error) {
	candidate := session
	for n := 2; ; n++ {
		var taken bool
		err := tx.QueryRowContext(ctx, `
			SELECT EXISTS (
				SELECT 1
				FROM repositories
				WHERE deleted = 0 AND session = ?)`, candidate).Scan(&taken)
		if err != nil || !taken {
			return candidate, err
		}
		candidate = session + "-" + strconv.Itoa(n)
	}
}

func insertRepository(ctx context.Context, tx querier, r codesage.Repository) (id codesage.RepositoryID, err error) {
	options, err := json.Marshal(r.Options)
	if err != nil {
		return 0, fmt.Errorf("encode options: %w", err)
	}
	at := micros(now())
	err = tx.QueryRowContext(ctx, `
		INSERT INTO repositories (
			name, session, source, url, url_folded, branch, description, path, options, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		RETURNING id`,
		r.Name, r.Session, r.Source, r.URL, strings.ToLower(r.URL), r.Branch, r.Description, r.Path, string(options), at, at).Scan(&id)
	return id, err
}

// Repository implements store.Repositories.
func (s *Store) Repository(ctx context.Context, id codesage.RepositoryID) (r codesage.Repository, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err = oneRepository(ctx, tx, id)
		return err
	})
	return r, err
}

// RepositoryBySession implements store.Repositories.
func (s *Store) RepositoryBySession(ctx context.Context, session string) (r codesage.Repository, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		found, err := selectRepositories(ctx, tx, `session = ?`, session)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return codesage.Errorf(codesage.KindNotFound, "session '%s' not found", session)
		}
		r = found[0]
		return nil
	})
	return r, err
}

// ListRepositories implements store.Repositories.
func (s *Store) ListRepositories(ctx context.Context) (all []codesage.Repository, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		all, err = selectRepositories(ctx, tx, `id > 0`)
		return err
	})
	return all, err
}

// oneRepository returns a repository; KindNotFound when it is not there.
func oneRepository(ctx context.Context, tx querier, id codesage.RepositoryID) (codesage.Repository, error) {
	found, err := selectRepositories(ctx, tx, `id = ?`, id)
	if err != nil {
		return codesage.Repository{}, err
	}
	if len(found) == 0 {
		return codesage.Repository{}, noRepository(id)
	}
	return found[0], nil
}

func noRepository(id codesage.RepositoryID) error {
	return codesage.Errorf(codesage.KindNotFound, "repository %d not found", id)
}

// selectRepositories returns the repositories that fulfil a condition, by id,
// with their newest and published runs.
func selectRepositories(ctx context.Context, tx querier, condition string, args ...any) ([]codesage.Repository, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT id, name, session, source, url, branch, description, path, options,
			latest_run, published_run, text_run, created_at, updated_at
		FROM repositories
		WHERE deleted = 0 AND `+condition+`
		ORDER BY id`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []codesage.Repository
	var pointers []codesage.RunID // latest and published of each
	for rows.Next() {
		var r codesage.Repository
		var options string
		var latest, published codesage.RunID
		var createdAt, updatedAt int64
		if err := rows.Scan(&r.ID, &r.Name, &r.Session, &r.Source, &r.URL, &r.Branch, &r.Description, &r.Path, &options,
			&latest, &published, &r.TextRun, &createdAt, &updatedAt); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(options), &r.Options); err != nil {
			return nil, fmt.Errorf("decode options of repository %d: %w", r.ID, err)
		}
		r.CreatedAt, r.UpdatedAt = fromMicros(createdAt), fromMicros(updatedAt)
		found = append(found, r)
		pointers = append(pointers, latest, published)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return found, fillRuns(ctx, tx, found, pointers)
}

// fillRuns sets Latest and Published, whose ids are in pointers in turn.
func fillRuns(ctx context.Context, tx querier, repositories []codesage.Repository, pointers []codesage.RunID) error {
	if len(repositories) == 0 {
		return nil
	}
	runs, err := selectRuns(ctx, tx, `r.id IN (SELECT value FROM json_each(?))`, jsonList(pointers))
	if err != nil {
		return err
	}
	byID := make(map[codesage.RunID]codesage.Run, len(runs))
	for _, run := range runs {
		byID[run.ID] = run
	}
	for i := range repositories {
		if run, ok := byID[pointers[2*i]]; ok {
			repositories[i].Latest = &run
		}
		if run, ok := byID[pointers[2*i+1]]; ok {
			repositories[i].Published = &run
		}
	}
	return nil
}

// jsonList writes ids as a JSON list, which is how a statement takes any number
// of them.
func jsonList[ID ~int64](ids []ID) string {
	list := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, int64(id), 10)
	}
	return string(append(list, ']'))
}

// DeleteRepository implements store.Repositories. The repository is gone for
// every reader after the first transaction; its rows follow in short ones. What
// a crash leaves of them is removed by Prune.
func (s *Store) DeleteRepository(ctx context.Context, id codesage.RepositoryID) error {
	err := s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `
			UPDATE repositories
			SET deleted = 1
			WHERE id = ? AND deleted = 0`, id)
		if err != nil {
			return err
		}
		if !changed(done) {
			return noRepository(id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.sweepDeleted(ctx, id); err != nil {
		trace.Log(ctx, s.log).Warn("remove the rows of a deleted repository; the next pruning goes on", "repository", id, "err", err)
	}
	return nil
}
