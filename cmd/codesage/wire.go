package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"codesage"
	"codesage/catalog"
	"codesage/config"
	"codesage/pipeline"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	"codesage/pipeline/source/folder"
	"codesage/pipeline/source/git"
	"codesage/queue"
	"codesage/search/local"
	"codesage/store"
	"codesage/store/sqlite"
	"codesage/worker"
)

// folderMaxFileBytes is the largest file of a folder that is indexed.
const folderMaxFileBytes = 10 << 20

// parts is everything a server is made of. This file is the only place that
// knows which adapter stands behind a contract.
type parts struct {
	config   config.Config
	log      *slog.Logger
	store    store.Store
	redis    *queue.Embedded
	queue    *queue.Queue
	index    *local.Index
	parser   *parse.Pool
	pipeline *pipeline.Pipeline
	catalog  *catalog.Catalog
	hosts    gitHosts
	closers  []func() error // in the order of opening
}

// assemble opens everything below the API and the worker. The caller closes it.
func assemble(ctx context.Context, c config.Config, log *slog.Logger) (p *parts, err error) {
	p = &parts{config: c, log: log}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	database, err := sqlite.Open(ctx, filepath.Join(c.DataDir, "codesage.db"), log)
	if err != nil {
		return p, err
	}
	p.store = database
	p.closers = append(p.closers, database.Close)

	p.redis = queue.NewEmbedded()
	p.closers = append(p.closers, p.redis.Close)
	p.queue = queue.New(p.redis)

	p.parser = parse.NewPool(parse.Config{Processes: c.ParseProcesses, Log: log})
	p.closers = append(p.closers, func() error { p.parser.Close(); return nil })

	if p.index, err = local.Open(filepath.Join(c.DataDir, "index"), local.Options{Log: log, Rebuild: p.rebuild}); err != nil {
		return p, fmt.Errorf("open the search index: %w", err)
	}
	p.closers = append(p.closers, p.index.Close)

	temp := filepath.Join(c.DataDir, "tmp")
	hosts, err := openGit(c, temp, log)
	if err != nil {
		return p, err
	}
	p.hosts = gitHosts{hosts}
	roots := localRoots(c)
	p.pipeline = &pipeline.Pipeline{
		Store:   p.store,
		Engine:  p.index,
		Texts:   p.index,
		Parser:  p.parser,
		Readers: c.ParseProcesses,
		DataDir: c.DataDir,
		Log:     log,
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
	p.catalog = catalog.New(catalog.Options{
		Store:     p.store,
		Queue:     p.queue,
		Log:       log,
		CheckRoot: func(path string) (string, error) { return folder.CheckRoot(path, roots) },
		Hosts:     p.hosts,
	})
	return p, nil
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
	return &worker.Worker{Store: p.store, Pipeline: p.pipeline, Queue: p.queue, Log: p.log, Sweeper: s, Refresher: r}
}

// sweeper returns what puts right what crashes left.
func (p *parts) sweeper() *worker.Sweeper {
	return &worker.Sweeper{Store: p.store, Queue: p.queue, Engine: p.index, Log: p.log}
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
