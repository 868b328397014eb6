package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/redis/go-redis/v9"

	"codesage"
	"codesage/catalog"
	"codesage/config"
	"codesage/metrics"
	"codesage/pipeline"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	"codesage/pipeline/source/folder"
	"codesage/pipeline/source/git"
	"codesage/queue"
	"codesage/queue/monitor"
	"codesage/search"
	"codesage/search/algolia"
	"codesage/search/local"
	"codesage/store"
	"codesage/trace"
	"codesage/worker"
)

// folderMaxFileBytes is the largest file of a folder that is indexed.
const folderMaxFileBytes = 10 << 20

// teamAttempts is how often a run is taken up whose database goes away.
const teamAttempts = 20

// parts is everything a server is made of. This file, and database.go for the
// store, are the only places that know which adapter stands behind a contract.
type parts struct {
	config   config.Config
	log      *slog.Logger
	store    store.Store
	redis    redis.UniversalClient
	queue    *queue.Queue
	index    *local.Index  // texts, and entities unless Algolia has them
	engine   search.Engine // entities; nil when search is not configured
	parser   *parse.Pool
	pipeline *pipeline.Pipeline
	catalog  *catalog.Catalog
	hosts    gitHosts
	folder   *sharedFolder // nil with the in-process Redis

	metrics    *metrics.Set
	tracer     *trace.Tracer // nil = no traces
	monitoring *monitor.UI

	closers []func() error // in the order of opening
}

// assemble opens everything below the API and the worker. The caller closes it.
func assemble(ctx context.Context, c config.Config, log *slog.Logger) (p *parts, err error) {
	p = &parts{config: c, log: log}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.store, err = openStore(ctx, c, log); err != nil {
		return p, err
	}
	p.closers = append(p.closers, p.store.Close)
	if err := p.openQueue(ctx); err != nil {
		return p, err
	}
	p.parser = parse.NewPool(parse.Config{Processes: c.ParseProcesses, Log: log})
	p.closers = append(p.closers, func() error { p.parser.Close(); return nil })
	if err := p.openObservers(ctx); err != nil {
		return p, err
	}
	if err := p.openIndex(ctx); err != nil {
		return p, err
	}
	hosts, err := openGit(c, filepath.Join(c.DataDir, "tmp"), log)
	if err != nil {
		return p, err
	}
	p.hosts = gitHosts{hosts}
	roots := localRoots(c)
	p.pipeline = p.newPipeline(roots)
	p.measure()
	o := catalog.Options{
		Store:     p.store,
		Queue:     p.queue,
		Log:       log,
		CheckRoot: func(path string) (string, error) { return folder.CheckRoot(path, roots) },
		Hosts:     p.hosts,
	}
	if p.engine == nil {
		o.Hosts = noSearchHosts{p.hosts}
	}
	p.catalog = catalog.New(o)
	return p, nil
}

// alone reports whether this process is the only one that works on the store.
func (p *parts) alone() bool { return p.config.DatabaseURL == "" }

// openQueue connects to Redis, or starts the one in this process. One that is not
// there yet is waited for by who needs it.
func (p *parts) openQueue(ctx context.Context) error {
	if p.config.RedisURL == "" {
		p.redis = queue.NewEmbedded()
	} else {
		client, err := queue.Connect(p.config.RedisURL, p.log)
		if err != nil {
			return err
		}
		p.redis = client
	}
	p.closers = append(p.closers, p.redis.Close)
	p.queue = queue.New(p.redis)
	return queue.CheckAccess(ctx, p.redis)
}

// indexDir is where the local index is in a data folder.
func indexDir(dataDir string) string { return filepath.Join(dataDir, "index") }

// openIndex opens the local index, and the engine for entities if that is
// another.
func (p *parts) openIndex(ctx context.Context) (err error) {
	c := p.config
	identity, err := p.store.Identity(ctx)
	if err != nil {
		return fmt.Errorf("ask the database who it is: %w", err)
	}
	release, err := newIndexClaim(c.DataDir, identity, p.log).take(ctx)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, release)
	if p.index, err = local.Open(indexDir(c.DataDir), local.Options{Log: p.log, Rebuild: p.rebuild}); err != nil {
		return fmt.Errorf("open the search index: %w", err)
	}
	p.closers = append(p.closers, p.index.Close)
	switch {
	case !c.Algolia():
		p.engine = p.index
	case c.AlgoliaAppID == "" || c.AlgoliaAdminKey == "":
		p.log.Warn("search is not configured: ALGOLIA_APP_ID or ALGOLIA_ADMIN_API_KEY is missing")
	default:
		return p.openAlgolia(ctx)
	}
	return nil
}

// verifyIndex reads the local index of a data folder and compares its checksums.
// n is the number of segments.
func verifyIndex(ctx context.Context, c config.Config) (n int, err error) {
	x, err := local.Open(indexDir(c.DataDir), local.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer x.Close()
	return x.Verify(ctx)
}

// openAlgolia makes Algolia the engine for entities. Texts stay in the local
// index.
func (p *parts) openAlgolia(ctx context.Context) error {
	c := algoliaConfig(p.config)
	c.Log = p.log
	c.Rebuild = func(ctx context.Context, s codesage.Snapshot) error { return p.pipeline.RebuildRecords(ctx, s) }
	c.Check = p.checkLive
	engine, err := algolia.Open(ctx, c)
	if err != nil {
		return err
	}
	p.engine = withTexts{&billed{Engine: engine}, p.index}
	return nil
}

func algoliaConfig(c config.Config) algolia.Config {
	return algolia.Config{AppID: c.AlgoliaAppID, AdminKey: c.AlgoliaAdminKey, IndexName: c.AlgoliaIndexName, Hosts: c.AlgoliaHosts}
}

// probeAlgolia asks Algolia as the server does, and changes nothing.
func probeAlgolia(ctx context.Context, c config.Config) error {
	return algolia.Probe(ctx, algoliaConfig(c))
}

// newPipeline returns what indexes. Without an engine the records go into the
// local index, where nobody asks for them.
func (p *parts) newPipeline(roots []string) *pipeline.Pipeline {
	c := p.config
	var engine search.Engine = p.index
	if p.engine != nil {
		engine = p.engine
	}
	return &pipeline.Pipeline{
		Store:   p.store,
		Engine:  engine,
		Texts:   p.index,
		Parser:  p.parser,
		Readers: c.ParseProcesses,
		DataDir: c.DataDir,
		Log:     p.log,
		Sources: map[codesage.SourceKind]source.Source{
			codesage.SourceFolder: folder.New(folder.Options{Roots: roots}),
			codesage.SourceGit:    p.hosts,
		},
		Limits: map[codesage.SourceKind]pipeline.Limits{
			codesage.SourceFolder: {MaxFileBytes: folderMaxFileBytes},
			codesage.SourceGit: {
				MaxFiles:     c.IndexMaxFiles,
				MaxBytes:     c.IndexMaxBytes,
				MaxFileBytes: c.IndexMaxFileBytes,
				Generated:    true,
			},
		},
	}
}

// openGit returns the source of git hosts, and removes what clones of an earlier
// process left.
func openGit(c config.Config, temp string, log *slog.Logger) (*git.Source, error) {
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for clones: %w", err)
	}
	if err := git.SweepTemp(temp); err != nil {
		return nil, fmt.Errorf("remove old clones: %w", err)
	}
	return git.New(git.Config{
		GitHubToken:      c.GitHubToken,
		GitHubAPIURL:     c.GitHubAPIURL,
		PrivateHosts:     c.PrivateHosts,
		Proxy:            c.GitProxy,
		PreflightTimeout: c.PreflightTimeout,
		CloneTimeout:     c.CloneTimeout,
		CloneMaxBytes:    c.CloneMaxBytes,
		TempDir:          temp,
		Log:              log,
	})
}

// rebuild writes a part of the local index anew from the store.
func (p *parts) rebuild(ctx context.Context, s codesage.Snapshot, part local.Part) error {
	if part == local.Texts {
		return p.pipeline.RebuildTexts(ctx, s)
	}
	return p.pipeline.RebuildRecords(ctx, s)
}

// worker returns what handles runs; it tells sweeper and refresher how they ended.
func (p *parts) worker(s *worker.Sweeper, r *worker.Refresher) *worker.Worker {
	attempts := 0
	if !p.alone() {
		attempts = teamAttempts
	}
	return &worker.Worker{Store: p.store, Pipeline: p.metrics.Pipeline(p.pipeline, p.tracer), Queue: p.queue, Log: p.log, Sweeper: s, Refresher: r, Attempts: attempts}
}

// sweeper returns what puts right what crashes left.
func (p *parts) sweeper() *worker.Sweeper {
	return &worker.Sweeper{Store: p.store, Queue: p.queue, Engine: p.pipeline.Engine, Log: p.log}
}

// close closes everything in the opposite order of opening.
func (p *parts) close() {
	for i := len(p.closers) - 1; i >= 0; i-- {
		if err := p.closers[i](); err != nil {
			p.log.Warn("close", "err", err)
		}
	}
}

// localRoots are the folders below which folders may be indexed: any for a
// server that only this machine reaches, none otherwise, unless they are set.
func localRoots(c config.Config) []string {
	switch {
	case c.LocalRootsSet:
		return c.LocalRoots
	case c.Loopback():
		return []string{string(filepath.Separator)}
	}
	return []string{}
}
