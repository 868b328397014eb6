package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// newLog returns a logger that writes text for people on a terminal and JSON
// for programs elsewhere, unless format says which. Long texts are cut.
func newLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: boundedValue}
	if format == "text" || format == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
