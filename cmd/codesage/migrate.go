package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func migrateCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "migrate",
		Short:   "Bring the database's schema up to date, which a team's needs before each new version",
		GroupID: "server",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := readSetup(t)
			if err != nil {
				return err
			}
			from, to, err := s.migrate(cmd.Context())
			if err != nil {
				return err
			}
			database := "the SQLite file in " + s.config.DataDir
			if s.config.DatabaseURL != "" {
				database = "the database of DATABASE_URL"
			}
			if from == to {
				fmt.Fprintf(t.out, "The schema of %s is up to date.\n", database)
			} else {
				fmt.Fprintf(t.out, "The schema of %s was brought from %d to %d.\n", database, from, to)
			}
			return nil
		},
	}
}
