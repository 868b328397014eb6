package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/api/client"
	"codesage/config"
	"codesage/pipeline/parse"
	"codesage/queue"
)

func doctorCommand(t terminal) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Check the set-up and say what to do",
		Long:    "Checks settings, data folder, database, queue, search index, parsers, the running\nserver and the MCP clients. It changes no data and may run beside a server. The\nexit code is 1 when something has to be mended.",
		GroupID: "server",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := doctor{terminal: t, asJSON: asJSON}
			return d.examine(cmd.Context())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// A finding is what one check found.
type finding struct {
	Check string  `json:"check"`
	State verdict `json:"state"`
	Text  string  `json:"text"` // what was seen and, unless that is fine, what to do
}

// verdict says how bad a finding is.
type verdict string

const (
	fine    verdict = "ok"
	notice  verdict = "notice"  // works, and could be better
	failure verdict = "failure" // has to be mended
)

// partTime bounds the check of a part that may not answer. Reading database and
// index is bounded by their size alone.
const partTime = 10 * time.Second

// doctor is one examination.
type doctor struct {
	terminal
	asJSON   bool
	config   config.Config
	findings []finding
}

// examine makes all checks and prints what they find, each as soon as it ends.
func (d *doctor) examine(ctx context.Context) error {
	d.found("program", fine, "codesage %s", versionText())
	if d.settings() {
		checks := []func(context.Context){d.dataFolder, d.database, d.queue, d.index, d.engine}
		for _, check := range checks {
			check(ctx)
		}
	}
	d.parsers(ctx)
	d.server(ctx)
	d.clients(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.asJSON {
		if err := writeJSON(d.out, d.findings); err != nil {
			return err
		}
	}
	n := 0
	for _, f := range d.findings {
		if f.State == failure {
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d of %d checks failed", n, len(d.findings))
	}
	return nil
}

// found notes a finding.
func (d *doctor) found(check string, state verdict, format string, args ...any) {
	f := finding{check, state, fmt.Sprintf(format, args...)}
	d.findings = append(d.findings, f)
	if !d.asJSON {
		indented := strings.ReplaceAll(strings.TrimSpace(f.Text), "\n", "\n"+strings.Repeat(" ", 24))
		fmt.Fprintf(d.out, "%-8s%-16s%s\n", f.State, f.Check, indented)
	}
}

// settings reads the configuration; the checks of the server's parts need it.
func (d *doctor) settings() bool {
	c, _, file, err := serverConfig(d.getenv)
	if err != nil {
		d.found("settings", failure, "%v", err)
		return false
	}
	d.config = c
	if file != "" {
		d.found("settings", fine, "from the environment and the file %s in the working folder", file)
		return true
	}
	d.found("settings", fine, "from the environment")
	return true
}

func (d *doctor) dataFolder(context.Context) {
	const check = "data folder"
	dir := d.config.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := tryWriting(existing(dir)); err != nil {
			d.found(check, failure, "%s is not there, and can't be made: %v; set CODESAGE_DATA_DIR to another folder", dir, err)
			return
		}
		d.found(check, fine, "%s is not there yet; the server makes it", dir)
		return
	case err != nil:
		d.found(check, failure, "%v; set CODESAGE_DATA_DIR to a folder that can be read", err)
		return
	case !info.IsDir():
		d.found(check, failure, "%s is not a folder; set CODESAGE_DATA_DIR to one", dir)
		return
	}
	if err := tryWriting(dir); err != nil {
		d.found(check, failure, "%v; give this user the right to write there, or set CODESAGE_DATA_DIR to another folder", err)
		return
	}
	if isOpenToOthers(info) {
		d.found(check, notice, "%s lets other users of this machine in; `chmod 700` it", dir)
		return
	}
	d.found(check, fine, "%s can be written", dir)
}

// existing returns the nearest folder above a path that is there.
func existing(path string) string {
	for {
		above := filepath.Dir(path)
		if _, err := os.Stat(above); err == nil || above == path {
			return above
		}
		path = above
	}
}

// tryWriting makes a file in a folder and removes it.
func tryWriting(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (d *doctor) database(ctx context.Context) {
	const check = "database"
	what, err := verifyDatabase(ctx, d.config)
	switch {
	case codesage.KindOf(err) == codesage.KindNotFound:
		d.found(check, fine, "nothing is stored yet")
	case err != nil && d.config.DatabaseURL == "":
		d.found(check, failure, "%v\na copy that `codesage backup` made comes back with `codesage restore FILE`", err)
	case err != nil:
		d.found(check, failure, "%v", err)
	default:
		d.found(check, fine, "%s", what)
	}
}

// queue asks Redis, if there is one, whether it answers and has workers.
func (d *doctor) queue(ctx context.Context) {
	const check = "queue"
	if d.config.RedisURL == "" {
		d.found(check, fine, "in the process of `codesage serve`")
		return
	}
	host := queue.Host(d.config.RedisURL)
	client, err := queue.Connect(d.config.RedisURL, slog.New(slog.DiscardHandler))
	if err != nil {
		d.found(check, failure, "%v", err)
		return
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	q := queue.New(client)
	if err := errors.Join(queue.CheckAccess(ctx, client), q.Ping(ctx)); err != nil {
		d.found(check, failure, "%v; check REDIS_URL, and that Redis runs at %s", err, host)
		return
	}
	workers, err := q.Workers()
	switch {
	case err != nil:
		d.found(check, failure, "%v", err)
	case len(workers) == 0:
		d.found(check, notice, "Redis at %s answers, and no worker is there; start `codesage worker`", host)
	default:
		d.found(check, fine, "Redis at %s answers; %d workers", host, len(workers))
	}
}

// index reads all files of the local index and compares their checksums.
func (d *doctor) index(ctx context.Context) {
	const check = "search index"
	if _, err := os.Stat(indexDir(d.config.DataDir)); errors.Is(err, fs.ErrNotExist) {
		d.found(check, fine, "there is none yet; the server builds it from the database when it is asked")
		return
	}
	n, err := verifyIndex(ctx, d.config)
	switch {
	case err != nil:
		d.found(check, notice, "of %d segments some are not right; the server writes them anew from the database by itself, or removes them when they are of an earlier run:\n%v", n, err)
	default:
		d.found(check, fine, "the checksums of %d segments are right", n)
	}
}

// engine tells which engine searches, and whether Algolia answers.
func (d *doctor) engine(ctx context.Context) {
	const check = "search engine"
	c := d.config
	switch {
	case c.Algolia() && (c.AlgoliaAppID == "" || c.AlgoliaAdminKey == ""):
		d.found(check, failure, "Algolia is asked for and has no keys; set ALGOLIA_APP_ID and ALGOLIA_ADMIN_API_KEY, or SEARCH_ENGINE=local")
	case c.Algolia():
		d.algolia(ctx, check)
	case c.AlgoliaAppID != "" || c.AlgoliaAdminKey != "":
		d.found(check, notice, "local index files; Algolia would take both ALGOLIA_APP_ID and ALGOLIA_ADMIN_API_KEY")
	default:
		d.found(check, fine, "local index files")
	}
}

// algolia asks Algolia with the server's key.
func (d *doctor) algolia(ctx context.Context, check string) {
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	err := probeAlgolia(ctx, d.config)
	switch codesage.KindOf(err) {
	case "":
		d.found(check, fine, "Algolia answers; index %s", d.config.AlgoliaIndexName)
	case codesage.KindUnavailable:
		d.found(check, failure, "Algolia does not answer as it should: %v\ncheck ALGOLIA_APP_ID and ALGOLIA_HOSTS, and that this machine may reach it by https", errors.Unwrap(err))
	default:
		d.found(check, failure, "%v", err)
	}
}

// parsers has a file parsed as the pipeline does it, in a process of its own.
func (d *doctor) parsers(ctx context.Context) {
	const check = "parsers"
	pool := parse.NewPool(parse.Config{Processes: 1, Log: slog.New(slog.DiscardHandler)})
	defer pool.Close()
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	r, err := pool.Parse(ctx, "go", "doctor.go", []byte("package doctor\n\nfunc Examine() {}\n"))
	if err == nil && len(r.Entities) == 0 {
		err = errors.New("found nothing in a file that has a function")
	}
	if err != nil {
		d.found(check, failure, "the parse process: %v; this program must be allowed to start itself", err)
		return
	}
	d.found(check, fine, "the parse process starts and finds what a file has")
}

// server asks the server that the command line and the bridge ask.
func (d *doctor) server(ctx context.Context) {
	const check = "server"
	c, err := dial(d.terminal)
	if err != nil {
		d.found(check, failure, "%v", err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	all, err := c.Repositories(ctx)
	if err != nil {
		var status *client.StatusError
		if errors.As(err, &status) && !status.JSON {
			d.found(check, failure, "another program answers at %s (%d); set MCP_SERVER_URL to the server, or CODESAGE_PORT to a free port", c.URL(), status.Status)
			return
		}
		state := failure
		if unreachable := (*client.UnreachableError)(nil); errors.As(err, &unreachable) {
			state = notice // it need not run now
		}
		d.found(check, state, "%v", explain(c, err))
		return
	}
	if err := checkReady(ctx, c.URL()); err != nil {
		d.found(check, failure, "%v; the server's log says why", err)
		return
	}
	var failed []string
	for _, r := range all {
		if r.Status == codesage.StatusFailed || r.ErrorMessage != "" {
			failed = append(failed, fmt.Sprintf("%s: %s: %s", r.Name, r.Status, r.ErrorMessage))
		}
	}
	if len(failed) > 0 {
		d.found(check, notice, "%s answers; of %d repositories %d have something to say:\n%s", c.URL(), len(all), len(failed), strings.Join(failed, "\n"))
		return
	}
	d.found(check, fine, "%s answers; %d repositories", c.URL(), len(all))
}

// clients starts what the MCP clients of this user start.
func (d *doctor) clients(ctx context.Context) {
	const check = "MCP clients"
	var with []string
	for _, host := range mcpHosts {
		entry, err := readEntry(host.path(d.getenv), host)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, errNotJSON) {
			d.found(check, notice, "%s: %v; look there yourself whether it starts CodeSage", host.title, err)
			continue
		}
		var n int
		if err == nil {
			n, err = tryEntry(ctx, entry)
		}
		if err != nil {
			d.found(check, failure, "%s does not start CodeSage: %v; run `codesage install %s`", host.title, err, host.name)
			continue
		}
		with = append(with, fmt.Sprintf("%s (%d tools)", host.title, n))
	}
	switch {
	case len(with) > 0:
		d.found(check, fine, "CodeSage starts in %s", strings.Join(with, ", "))
	case !slices.ContainsFunc(d.findings, func(f finding) bool { return f.Check == check }):
		d.found(check, notice, "none has CodeSage; run `codesage install`, or see the README")
	}
}

// errNotJSON says that a configuration can't be read by this program.
var errNotJSON = errors.New("not plain JSON")

// readEntry returns the entry of a client's configuration; fs.ErrNotExist when
// there is none.
func readEntry(path string, host mcpHost) (e serverEntry, err error) {
	f, err := os.Open(path)
	if err != nil {
		return e, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxClientConfig))
	if err != nil {
		return e, err
	}
	var object map[string]json.RawMessage
	var servers map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil && len(bytes.TrimSpace(data)) > 0 {
		return e, fmt.Errorf("%s is %w", path, errNotJSON)
	}
	if json.Unmarshal(object[host.key], &servers) != nil || servers["codesage"] == nil {
		return e, fmt.Errorf("%s has no entry: %w", path, fs.ErrNotExist)
	}
	return e, json.Unmarshal(servers["codesage"], &e)
}

// maxClientConfig bounds what is read of a client's configuration.
const maxClientConfig = 64 << 20
