package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"codesage"
	"codesage/api/client"
)

// progress shows a run: a bar on a terminal, a line now and then elsewhere.
type progress struct {
	out    io.Writer
	bar    *progressbar.ProgressBar
	phase  codesage.Phase
	began  time.Time
	first  int
	told   time.Time
	closed bool
}

// plainInterval is how often a line is written where there is no terminal.
const plainInterval = 2 * time.Second

func newProgress(out io.Writer) *progress { return &progress{out: out} }

// words are the phases as people see them.
var words = map[codesage.Phase]string{
	codesage.PhaseWaiting: "waiting",
	codesage.PhaseFetch:   "fetching",
	codesage.PhaseList:    "listing files",
	codesage.PhaseText:    "reading text",
	codesage.PhaseSymbols: "finding symbols",
	codesage.PhasePublish: "publishing",
}

// show shows how far a run is.
func (p *progress) show(run client.Run) {
	done := run.ProcessedFiles
	if run.Phase == codesage.PhaseText {
		done = run.TextFiles
	}
	if run.Phase != p.phase || p.began.IsZero() {
		p.finish()
		p.phase, p.began, p.first = run.Phase, time.Now(), done
	}
	if !isTerminal(p.out) || run.Phase == codesage.PhaseList { // a bar needs a length
		p.line(run, done)
		return
	}
	if run.TotalFiles == 0 || run.Phase == codesage.PhasePublish {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(run.TotalFiles,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetWidth(20),
			progressbar.OptionThrottle(50*time.Millisecond))
	}
	p.bar.Describe(fmt.Sprintf("%-15s %9s", words[run.Phase], p.rate(done)))
	_ = p.bar.Set(min(done, run.TotalFiles))
}

// line writes a line at each new phase and every plainInterval.
func (p *progress) line(run client.Run, done int) {
	if time.Since(p.told) < plainInterval && time.Since(p.began) > 0 && !p.told.Before(p.began) {
		return
	}
	p.told = time.Now()
	switch {
	case run.Phase == codesage.PhaseList && run.Bytes > 0:
		fmt.Fprintf(p.out, "%s: %.1f MB of text so far\n", words[run.Phase], float64(run.Bytes)/1e6)
		return
	case run.TotalFiles == 0, run.Phase == codesage.PhasePublish:
		fmt.Fprintf(p.out, "%s\n", words[run.Phase])
		return
	}
	text := fmt.Sprintf("%s: %d/%d files", words[run.Phase], done, run.TotalFiles)
	if rate := p.rate(done); rate != "" {
		text += ", " + rate
	}
	fmt.Fprintln(p.out, text)
}

// rate is how fast the phase goes; empty while it is too early to say.
func (p *progress) rate(done int) string {
	seconds := time.Since(p.began).Seconds()
	if seconds < 0.5 {
		return ""
	}
	return fmt.Sprintf("%.0f files/s", float64(done-p.first)/seconds)
}

// finish ends the bar of a phase.
func (p *progress) finish() {
	if p.bar == nil {
		return
	}
	_ = p.bar.Finish()
	fmt.Fprintln(p.out)
	p.bar = nil
}

// close ends what is shown. A second call does nothing.
func (p *progress) close() {
	if !p.closed {
		p.closed = true
		p.finish()
	}
}
