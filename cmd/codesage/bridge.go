package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"codesage/bridge"
	"codesage/config"
	"codesage/tools/repositories"
	"codesage/tools/sessions"
	"codesage/trace/otlp"
)

func bridgeCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "bridge",
		Short:   "Serve MCP over stdio by asking a running server; MCP clients start this",
		GroupID: "server",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a := readAddress(t.getenv)
			level := slog.LevelInfo
			if text := strings.TrimSpace(t.getenv("CODESAGE_MCP_LOG_LEVEL")); text != "" {
				if err := level.UnmarshalText([]byte(pythonLevel(text))); err != nil {
					return usageError{fmt.Errorf("CODESAGE_MCP_LOG_LEVEL=%s: must be DEBUG, INFO, WARN or ERROR", text)}
				}
			}
			tracer, stop, err := otlp.Open(cmd.Context(), otlp.Options{
				Getenv: t.getenv, Name: "codesage-bridge", Version: versionText(), Log: newLog(t.err, level, "text"),
			})
			if err != nil {
				return err
			}
			defer endTraces(stop)
			name, version := config.Identity(t.getenv)
			return bridge.Run(cmd.Context(), bridge.Config{
				ServerURL:     a.url,
				Key:           a.key,
				KeyFile:       a.keyFile,
				BasicUser:     a.user,
				BasicPassword: a.password,
				AllowInsecure: a.insecure,
				Toolset:       strings.TrimSpace(t.getenv("CODESAGE_TOOLSET")),
				Repositories:  repositories.Specs(),
				Sessions:      sessions.Specs(),
				Name:          name,
				Version:       version,
				LogLevel:      level,
				Tracer:        tracer,
			}, t.in, t.out, t.err)
		},
	}
}

// pythonLevel takes the names that MCP configurations often hold.
func pythonLevel(text string) string {
	switch strings.ToUpper(text) {
	case "WARNING":
		return "WARN"
	case "CRITICAL":
		return "ERROR"
	}
	return text
}
