package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/trace"
)

// addLock is the advisory lock under which repositories are added, so that the
// look-up and the insert are one step.
const addLock = 0x636f6465

// CreateRepository implements store.Repositories.
func (s *Store) CreateRepository(ctx context.Context, r codesage.Repository) (made codesage.Repository, run codesage.Run, err error) {
	err = s.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, addLock); err != nil {
			return err
		}
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
func sameRepository(ctx context.Context, tx pgx.Tx, r codesage.Repository) (id codesage.RepositoryID, err error) {
	session := ""
	if r.Source == codesage.SourceFolder {
		session = r.Session
	}
	err = tx.QueryRow(ctx, `
		SELECT id
		FROM repositories
		WHERE NOT deleted
			AND (url_folded = $1 AND $1 <> '' OR session = $2 AND $2 <> '')
		ORDER BY id
		LIMIT 1`, escaped(strings.ToLower(r.URL)), escaped(session)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// freeSession returns the session id, or the first of it with -2, -3, … that no
// repository has.
func freeSession(ctx context.Context, tx pgx.Tx, session string) (string, error) {
	candidate := session
	for n := 2; ; n++ {
		var taken bool
		err := tx.QueryRow(ctx, `
			SELECT EXISTS (
				SELECT 1
				FROM repositories
				WHERE NOT deleted AND session = $1)`, escaped(candidate)).Scan(&taken)
		if err != nil || !taken {
			return candidate, err
		}
		candidate = session + "-" + strconv.Itoa(n)
	}
}

func insertRepository(ctx context.Context, tx pgx.Tx, r codesage.Repository) (id codesage.RepositoryID, err error) {
	options, err := json.Marshal(r.Options)
	if err != nil {
		return 0, fmt.Errorf("encode options: %w", err)
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO repositories (
			name, session, source, url, url_folded, branch, description, path, options, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp(), clock_timestamp())
		RETURNING id`,
		escaped(r.Name), escaped(r.Session), r.Source, escaped(r.URL), escaped(strings.ToLower(r.URL)), escaped(r.Branch),
		escaped(r.Description), []byte(r.Path), string(options)).Scan(&id)
	return id, err
}

// Repository implements store.Repositories.
func (s *Store) Repository(ctx context.Context, id codesage.RepositoryID) (r codesage.Repository, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		r, err = oneRepository(ctx, tx, id)
		return err
	})
	return r, err
}

// RepositoryBySession implements store.Repositories.
func (s *Store) RepositoryBySession(ctx context.Context, session string) (r codesage.Repository, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		found, err := selectRepositories(ctx, tx, `session = $1`, escaped(session))
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
	err = s.read(ctx, func(tx pgx.Tx) error {
		all, err = selectRepositories(ctx, tx, `id > 0`)
		return err
	})
	return all, err
}

// oneRepository returns a repository; KindNotFound when it is not there.
func oneRepository(ctx context.Context, tx pgx.Tx, id codesage.RepositoryID) (codesage.Repository, error) {
	found, err := selectRepositories(ctx, tx, `id = $1`, id)
	if err != nil {
		return codesage.Repository{}, err
	}
	if len(found) == 0 {
		return codesage.Repository{}, noRepository(id)
	}
	return found[0], nil
}

// selectRepositories returns the repositories that fulfil a condition, by id,
// with their newest and published runs.
func selectRepositories(ctx context.Context, tx pgx.Tx, condition string, args ...any) ([]codesage.Repository, error) {
	rows, err := tx.Query(ctx, `
		SELECT id, name, session, source, url, branch, description, path, options,
			latest_run, published_run, text_run, created_at, updated_at
		FROM repositories
		WHERE NOT deleted AND `+condition+`
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
		var path []byte
		var latest, published codesage.RunID
		if err := rows.Scan(&r.ID, (*escaped)(&r.Name), (*escaped)(&r.Session), &r.Source, (*escaped)(&r.URL), (*escaped)(&r.Branch),
			(*escaped)(&r.Description), &path, &options,
			&latest, &published, &r.TextRun, (*moment)(&r.CreatedAt), (*moment)(&r.UpdatedAt)); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(options), &r.Options); err != nil {
			return nil, fmt.Errorf("decode options of repository %d: %w", r.ID, err)
		}
		r.Path = string(path)
		found = append(found, r)
		pointers = append(pointers, latest, published)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return found, fillRuns(ctx, tx, found, pointers)
}

// fillRuns sets Latest and Published, whose ids are in pointers in turn.
func fillRuns(ctx context.Context, tx pgx.Tx, repositories []codesage.Repository, pointers []codesage.RunID) error {
	if len(repositories) == 0 {
		return nil
	}
	runs, err := selectRuns(ctx, tx, `r.id = ANY($1)`, int64s(pointers))
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

// DeleteRepository implements store.Repositories. The repository is gone for
// every reader after the first transaction; its rows follow in short ones. What
// a crash leaves of them is removed by Prune.
func (s *Store) DeleteRepository(ctx context.Context, id codesage.RepositoryID) error {
	err := s.write(ctx, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `
			UPDATE repositories
			SET deleted = TRUE
			WHERE id = $1 AND NOT deleted`, id)
		if err == nil && !changed(done) {
			err = noRepository(id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.sweepDeleted(ctx, id); err != nil {
		trace.Log(ctx, s.log).Warn("remove the rows of a deleted repository; the next pruning goes on", "repository", id, "err", err)
	}
	return nil
}
