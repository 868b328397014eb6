package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"codesage"
)

// errPostgresBackup says how a team's database is copied.
var errPostgresBackup = errors.New("DATABASE_URL names a PostgreSQL database; copy it with pg_dump -Fc and bring it back with pg_restore, which need no help of CodeSage's")

func backupCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "backup <file>",
		Short:   "Copy the database to a new file; the server may go on",
		GroupID: "server",
		Args:    arguments(1, "the file to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, _, err := serverConfig(t.getenv)
			if err != nil {
				return err
			}
			if c.DatabaseURL != "" {
				return errPostgresBackup
			}
			to, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("find %s: %w", args[0], err)
			}
			if err := backUp(cmd.Context(), c, to); err != nil {
				return err
			}
			fmt.Fprintf(t.out, "The database was copied to %s. The search index is not in it: it is built anew from the database.\n", to)
			return nil
		},
	}
}

func restoreCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "restore <file>",
		Short:   "Put a copy that backup made in the place of the database; the server must be stopped",
		GroupID: "server",
		Args:    arguments(1, "the file to read"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readSetup(t)
			if err != nil {
				return err
			}
			if s.config.DatabaseURL != "" {
				return errPostgresBackup
			}
			dir, err := openDataDir(s.config.DataDir, lockAlone)
			if err != nil {
				return err
			}
			defer dir.close()
			replaced, err := s.restore(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(t.out, "The database was restored; the search index is built anew when it is asked for.")
			if replaced != "" {
				fmt.Fprintf(t.out, "What was there is now %s; remove it when you are content.\n", replaced)
			}
			return nil
		},
	}
}

// errNoBackup reports a file to restore that is not there.
func errNoBackup(path string) error {
	return codesage.Errorf(codesage.KindNotFound, "there is no file %s", path)
}
