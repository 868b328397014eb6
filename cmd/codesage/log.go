package main

import (
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"
)

// newLog returns a logger that writes text for people on a terminal and JSON
// for programs elsewhere, unless format says which. Long texts are cut, and
// durations are written as "1.5s".
func newLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if format == "text" || format == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// readable is what the log writes of a value, as slog.HandlerOptions.ReplaceAttr.
func readable(groups []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return boundedValue(groups, a)
	}
	d, unit := a.Value.Duration(), time.Nanosecond
	switch {
	case d.Abs() >= time.Second:
		unit = time.Millisecond
	case d.Abs() >= time.Millisecond:
		unit = time.Microsecond
	}
	return slog.String(a.Key, d.Round(unit).String())
}
