package main

import (
	"context"
	"os"
	"sync"

	"codesage/pipeline/source/folder"
	folderwatch "codesage/watch"
)

// startWatch keeps folders fresh when FOLDER_WATCH says so, or says nothing and
// standard does. The returned function stops it and waits.
func startWatch(ctx context.Context, p *parts, standard bool) (stop func()) {
	on := standard
	if p.config.FolderWatchSet {
		on = p.config.FolderWatch
	}
	if !on {
		return func() {}
	}
	roots := localRoots(p.config)
	w := folderwatch.New(folderwatch.Options{
		Store:     p.store,
		Catalog:   p.catalog,
		Log:       p.log,
		CheckRoot: func(path string) (string, error) { return folder.CheckRoot(path, roots) },
		Except:    append(outputFiles(), p.config.DataDir),
	})
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { w.Run(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}

// outputFiles are the files that this process's output goes to, on systems that
// tell: each run writes to the log, and must not be followed by another for it.
func outputFiles() (paths []string) {
	for _, link := range []string{"/proc/self/fd/1", "/proc/self/fd/2"} {
		path, err := os.Readlink(link)
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	return paths
}
