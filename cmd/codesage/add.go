package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/api/client"
)

func addCommand(t terminal) *cobra.Command {
	var session, branch, description string
	var noWait, force bool
	var include, exclude []string
	c := &cobra.Command{
		Use:     "add <url|folder>",
		Short:   "Index a git repository or a local folder; on an indexed folder: refresh it",
		GroupID: "client",
		Args:    arguments(1, "one URL or folder"),
		RunE: asking(t, func(ctx context.Context, server *client.Client, args []string) (err error) {
			var repo client.Repository
			if isURL(args[0]) {
				if session != "" || force || include != nil || exclude != nil {
					return usageError{errors.New("--session, --include, --exclude and --force are for folders")}
				}
				repo, err = server.AddURL(ctx, client.URL{URL: args[0], Branch: branch, Description: description})
			} else {
				if branch != "" || description != "" {
					return usageError{errors.New("--branch and --description are for git repositories")}
				}
				repo, err = addFolder(ctx, server, client.Folder{
					Path: args[0], Session: session, Include: include, Exclude: exclude, Force: force, Refresh: true,
				})
			}
			if err != nil {
				return err
			}
			if noWait {
				_, err := fmt.Fprintf(t.out, "%s is repository %d; `codesage status %s` tells how far it is\n", repo.Name, repo.ID, repo.Name)
				return err
			}
			return follow(ctx, t, server, repo)
		}),
	}
	c.Flags().StringVar(&session, "session", "", "session id of a folder (default: its name)")
	c.Flags().BoolVar(&force, "force", false, "index every file of a folder anew, and let the session take another folder")
	c.Flags().StringArrayVar(&include, "include", nil, "pattern of a folder's paths to take, such as src/**; may be given again (default: all)")
	c.Flags().StringArrayVar(&exclude, "exclude", nil, "pattern of a folder's paths to leave out, in place of the default list; may be given again, '' leaves nothing out")
	c.Flags().StringVar(&branch, "branch", "", "branch of a git repository (default: its own)")
	c.Flags().StringVar(&description, "description", "", "a note on a git repository")
	c.Flags().BoolVar(&noWait, "no-wait", false, "return once the run waits in the queue")
	return c
}

// isURL tells a git URL from a folder: by its form, unless such a folder is
// there.
func isURL(text string) bool {
	if _, err := os.Stat(text); err == nil {
		return false
	}
	return strings.Contains(text, "://") || regexp.MustCompile(`^[^/\\]+@[^/\\]+:`).MatchString(text)
}

func addFolder(ctx context.Context, server *client.Client, f client.Folder) (client.Repository, error) {
	if f.Path == "" {
		return client.Repository{}, usageError{errors.New("the name of the folder is empty; write . for the current folder")}
	}
	full, err := filepath.Abs(f.Path)
	if err != nil {
		return client.Repository{}, fmt.Errorf("find %s: %w", f.Path, err)
	}
	if resolved, err := filepath.EvalSymlinks(full); err == nil {
		full = resolved
	}
	if f.Session == "" {
		if f.Session = sessionOf(full); f.Session == "" {
			return client.Repository{}, usageError{fmt.Errorf("no session id can be made of the name of %s; give one with --session", full)}
		}
	}
	f.Path = full
	return server.AddFolder(ctx, f)
}

var notSession = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// sessionOf makes a session id of a folder's name.
func sessionOf(path string) string {
	name := notSession.ReplaceAllString(filepath.Base(path), "-")
	name = strings.TrimLeft(name, "-_")
	return strings.TrimRight(name[:min(len(name), 64)], "-")
}

// follow shows a repository's run until it ends, and says what came of it.
func follow(ctx context.Context, t terminal, server *client.Client, repo client.Repository) error {
	bar := newProgress(t.err)
	defer bar.close()
	last := repo
	for event, err := range server.Events(ctx, repo.ID) {
		if err != nil {
			return err
		}
		if event.Removed {
			return codesage.Errorf(codesage.KindNotFound, "%s was removed", repo.Name)
		}
		if event.Run != nil {
			bar.show(*event.Run)
		}
		last = event.Repository
		if last.Status == codesage.StatusCompleted || last.Status == codesage.StatusFailed {
			break
		}
	}
	bar.close()
	if err := ctx.Err(); err != nil {
		return err
	}
	runs, err := server.Runs(ctx, repo.ID)
	if err != nil {
		return err
	}
	return conclude(t, last, runs)
}

// conclude says how the newest run ended.
func conclude(t terminal, repo client.Repository, runs []client.Run) error {
	if len(runs) == 0 || runs[0].Going() {
		return codesage.Errorf(codesage.KindUnavailable, "the server went away while %s was being indexed; the run goes on when it is back", repo.Name)
	}
	run := runs[0]
	if run.Status == codesage.StatusFailed {
		return fmt.Errorf("index %s: %s", repo.Name, run.Error)
	}
	fmt.Fprintf(t.out, "%s: %d files (%d unchanged and kept, %d parsed), %d entities, %.1f s\n",
		repo.Name, run.TotalFiles, run.KeptFiles, run.ParsedFiles, run.TotalEntities, run.Seconds)
	if run.Notice != "" {
		fmt.Fprintln(t.out, run.Notice)
	}
	return nil
}
