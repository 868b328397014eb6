package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"codesage"
	"codesage/queue"
)

// How long Redis remembers the folder after the last process has told it, how
// often each tells it, and how long one that starts waits for another folder's
// processes to end. One that has waited for Redis lets those that work already
// tell it of their folder first.
const (
	folderLife = 10 * time.Second
	folderBeat = 2 * time.Second
	folderWait = folderLife + 2*folderBeat
	folderTurn = 2 * folderBeat
)

// folderKey is where Redis has the token of the folder in use.
const folderKey = "codesage:data-folder"

var errOtherFolder = codesage.Errorf(codesage.KindConflict,
	"the API and the workers do not share CODESAGE_DATA_DIR: another process with the same REDIS_URL works in another folder; give all of a team the same folder, and each CodeSage a Redis database of its own")

// sharedFolder finds out whether all processes that use a Redis work in one data
// folder. One of them puts a random token into Redis and a file of that name
// into the folder; the others look whether they see that file. The token is
// forgotten soon after the last process has ended, so a folder may be moved,
// removed or brought back in between.
type sharedFolder struct {
	redis redis.UniversalClient
	host  string // where Redis is, for the log
	dir   string // below the data folder
	log   *slog.Logger

	life, beat, wait, turn time.Duration

	differs atomic.Bool // whether others used another folder when that was last looked at
	away    time.Time   // since when Redis can't be used; zero while it can
}

// sharedFolder returns what watches this process's data folder.
func (p *parts) sharedFolder() *sharedFolder {
	return &sharedFolder{
		redis: p.redis, host: queue.Host(p.config.RedisURL), dir: filepath.Join(p.config.DataDir, "shared"), log: p.log,
		life: folderLife, beat: folderBeat, wait: folderWait, turn: folderTurn,
	}
}

// ready fails while other processes are known to use another folder.
func (f *sharedFolder) ready(context.Context) error {
	if f.differs.Load() {
		return errOtherFolder
	}
	return nil
}

// watch checks the folder now and again until ctx ends. The error, after a while
// of waiting, is KindConflict when other processes use another one. The returned
// function stops it.
func (f *sharedFolder) watch(ctx context.Context) (stop func(), err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("write into the data folder: %w", err)
	}
	if err := f.waitForOthers(ctx); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { f.repeat(running) })
	return func() {
		cancel()
		done.Wait()
	}, nil
}

// waitForRedis returns once Redis answers, for who can do nothing without. The
// error is KindInvalid when Redis refuses.
func (f *sharedFolder) waitForRedis(ctx context.Context) error {
	ticker := time.NewTicker(f.beat / 4)
	defer ticker.Stop()
	for w := (waiting{}); ; {
		err := f.ask(ctx)
		switch {
		case err == nil && w.told.IsZero():
			return nil
		case err == nil:
			return f.yield(ctx)
		case codesage.KindOf(err) == codesage.KindInvalid:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		w.tell(f.log, "waiting for Redis", "host", f.host, "err", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// ask asks Redis for a sign of life. The driver does not see that ctx is
// cancelled, so it has a time-out too.
func (f *sharedFolder) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.beat)
	defer cancel()
	if err := queue.CheckAccess(ctx, f.redis); err != nil {
		return err
	}
	return f.redis.Ping(ctx).Err()
}

// yield waits until those that work already have told Redis of their folder.
func (f *sharedFolder) yield(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(f.turn):
		return nil
	}
}

// waitForOthers returns once the folder is the others', or they have ended.
func (f *sharedFolder) waitForOthers(ctx context.Context) error {
	ticker := time.NewTicker(f.beat / 4)
	defer ticker.Stop()
	for began, told := time.Now(), false; ; told = true {
		err := f.check(ctx)
		f.note(ctx, err)
		if !errors.Is(err, errOtherFolder) {
			return nil // a Redis that is away is no reason to wait here
		}
		if time.Since(began) > f.wait {
			return err
		}
		if !told {
			f.log.Warn("waiting for the processes that work in another data folder to end")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// repeat checks until ctx ends, notes what it finds, and tells what is wrong once
// a minute.
func (f *sharedFolder) repeat(ctx context.Context) {
	ticker := time.NewTicker(f.beat)
	defer ticker.Stop()
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			err := f.check(ctx)
			f.note(ctx, err)
			differs := errors.Is(err, errOtherFolder)
			if differs || err == nil { // else Redis is away, and nothing is known
				f.differs.Store(differs)
			}
			if differs && now.After(next) {
				f.log.Error("compare the data folders", "err", err)
				next = now.Add(time.Minute)
			}
		}
	}
}

// note tells the log, by what a check has found, that Redis can't be used, and
// that it can again.
func (f *sharedFolder) note(ctx context.Context, checked error) {
	var disk *fs.PathError
	isAway := checked != nil && !errors.Is(checked, errOtherFolder) && !errors.As(checked, &disk)
	switch {
	case ctx.Err() != nil: // the check was not finished
	case isAway && f.away.IsZero():
		f.away = time.Now()
		f.log.Warn("Redis can't be used; runs wait until it answers", "host", f.host, "err", checked)
	case !isAway && !f.away.IsZero():
		f.log.Info("Redis answers again", "host", f.host, "after", time.Since(f.away))
		f.away = time.Time{}
	}
}

// check compares this folder with the others', or makes it theirs. Only
// errOtherFolder says that they differ; other faults are those of Redis and of
// the disk, which are told elsewhere.
func (f *sharedFolder) check(ctx context.Context) error {
	token, err := f.redis.Get(ctx, folderKey).Result()
	if errors.Is(err, redis.Nil) {
		token, err = f.claim(ctx)
	}
	if err != nil {
		return err
	}
	switch _, err := os.Lstat(filepath.Join(f.dir, filepath.Base(token))); {
	case errors.Is(err, os.ErrNotExist):
		return errOtherFolder
	case err != nil:
		return err
	}
	return f.redis.Expire(ctx, folderKey, f.life).Err()
}

// claim makes this folder the one in use, unless another process is faster, and
// returns the token of the one that is. Tokens of earlier days go.
func (f *sharedFolder) claim(ctx context.Context) (token string, err error) {
	token = rand.Text()
	path := filepath.Join(f.dir, token)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return "", err
	}
	first, err := f.redis.SetNX(ctx, folderKey, token, f.life).Result()
	if err != nil || !first {
		// The file stays: the driver tries twice, so this may be the token after all.
		return f.redis.Get(ctx, folderKey).Result()
	}
	entries, err := os.ReadDir(f.dir)
	for _, e := range entries {
		if e.Name() != token {
			_ = os.Remove(filepath.Join(f.dir, e.Name())) // the next claim tries again
		}
	}
	return token, err
}
