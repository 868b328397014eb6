package algolia

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	client "github.com/algolia/algoliasearch-client-go/v3/algolia/search"

	"codesage"
	"codesage/search"
	"codesage/trace"
)

// Limits of one request, and of a record where the plan of the account is the
// smallest.
const (
	maxBatch       = 1000
	maxBatchBytes  = 5_000_000
	maxRecordBytes = 10_000
)

// Begin implements search.Engine. It waits for another writer of the repository
// in this process; the error is KindConflict when that one stays too long. From
// here to Commit it is KindDenied when the service refuses the key, and
// KindTooLarge when its quota is used up. When the records of base are missing, or
// a run that was never published left some, base is rebuilt first.
func (e *Engine) Begin(ctx context.Context, repo codesage.Repository, base codesage.RunID, run codesage.Run) (search.Writer, error) {
	if err := e.settle(ctx, triesOfWrite); err != nil {
		return nil, unwritable(err)
	}
	isMixed := false
	if base != 0 {
		var err error
		if isMixed, err = e.mend(ctx, codesage.Snapshot{Repository: repo.ID, Run: base}, run); err != nil {
			return nil, err
		}
	}
	l := e.writerLock(repo.ID)
	if !l.try() {
		wait, cancel := context.WithTimeout(ctx, e.c.LockWait)
		defer cancel()
		if err := l.wait(wait); ctx.Err() != nil {
			return nil, unwritable(ctx.Err())
		} else if err != nil {
			return nil, codesage.Errorf(codesage.KindConflict, "another run is writing the search index of repository %d", repo.ID)
		}
	}
	checked := run
	if run.Attempt == search.Rebuilt {
		checked, _ = ctx.Value(mendedFor{}).(codesage.Run)
	}
	return &writer{
		e: e, repo: repo.ID, base: base, run: run, checked: checked, isMixed: isMixed, lock: l,
		turn: make(lock, 1), files: map[string]extent{},
	}, nil
}

// mendedFor is the key of the attempt at a run that has its base rebuilt, in the
// context of that rebuild.
type mendedFor struct{}

// mend makes sure that the records of a run's base are all there and alone. It
// reports whether surplus records of later runs are left, which Commit has to
// remove.
func (e *Engine) mend(ctx context.Context, base codesage.Snapshot, run codesage.Run) (isMixed bool, err error) {
	if err := e.awaitEarlier(ctx, base.Repository); err != nil {
		return false, unwritable(err)
	}
	all, err := e.post(ctx, "query", triesOfWrite, newQuestion("", repositoryFilter(base.Repository)))
	if err != nil {
		return false, unwritable(err)
	}
	later, err := e.post(ctx, "query", triesOfWrite, newQuestion("", laterFilter(base.Repository, base.Run)))
	if err != nil {
		return false, unwritable(err)
	}
	if all.NbHits > 0 && later.NbHits == 0 {
		return false, nil
	}
	log := trace.Log(ctx, e.c.Log).With("repository", base.Repository, "of_run", base.Run, "records", all.NbHits, "of_later_runs", later.NbHits)
	if e.c.Rebuild == nil {
		log.Warn("search records are not those of the base, and can't be rebuilt")
		return later.NbHits > 0, nil
	}
	log.Info("rebuild search records")
	if err := e.c.Rebuild(context.WithValue(ctx, mendedFor{}, run), base); err != nil {
		return false, fmt.Errorf("rebuild search records of run %d: %w", base.Run, err)
	}
	return false, nil
}

// awaitEarlier waits until what was sent before is done, by whomever: the service
// works off the tasks of an index in their order, so one that changes nothing
// comes last.
func (e *Engine) awaitEarlier(ctx context.Context, repo codesage.RepositoryID) error {
	id := fmt.Sprintf("%d-none", repo)
	task, err := e.batch(ctx, []client.BatchOperation{{Action: client.DeleteObject, Body: map[string]string{"objectID": id}}})
	if err != nil {
		return err
	}
	return e.await(ctx, task)
}

// laterFilter matches the records of a repository that runs after one wrote.
func laterFilter(repo codesage.RepositoryID, run codesage.RunID) string {
	return fmt.Sprintf("%s AND run > %d", repositoryFilter(repo), run)
}

// writer implements search.Writer.
type writer struct {
	e       *Engine
	repo    codesage.RepositoryID
	base    codesage.RunID
	run     codesage.Run
	checked codesage.Run // the attempt that must be live still; zero = none
	isMixed bool
	lock    lock // the repository's, until the writer ends

	turn   lock // guards what follows; held while sending, to keep the order
	ops    []client.BatchOperation
	bytes  int  // of ops
	isSent bool // something was
	files  map[string]extent
	tasks  []int64 // sent and not awaited
	isDone bool
}

// An extent is how many records a file has, and how many it had or was given at
// most. Its key is the beginning of their object ids.
type extent struct{ now, most int }

func (w *writer) key(path string) string {
	return strings.TrimSuffix(search.ObjectID(w.repo, path, 0), "0")
}

var errEnded = errors.New("the writer of search records has ended")

// Put implements search.Writer.
func (w *writer) Put(ctx context.Context, path string, old int, list []search.Record) error {
	ops := make([]client.BatchOperation, 0, len(list))
	size := 0
	for i, r := range list {
		r.ObjectID = search.ObjectID(w.repo, path, i)
		data, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode record %s: %w", r.ObjectID, err)
		}
		if len(data) > maxRecordBytes {
			return codesage.Errorf(codesage.KindTooLarge, "record %s of %q has %d bytes, the limit is %d", r.ObjectID, path, len(data), maxRecordBytes)
		}
		ops = append(ops, client.BatchOperation{Action: client.AddObject, Body: json.RawMessage(data)})
		size += len(data)
	}
	if err := w.turn.wait(ctx); err != nil {
		return unwritable(err)
	}
	defer w.turn.release()
	if w.isDone {
		return errEnded
	}
	key := w.key(path)
	w.files[key] = extent{now: len(list), most: max(w.files[key].most, old, len(list))}
	w.ops = append(w.ops, ops...)
	w.bytes += size
	if !w.isSent && w.bytes <= w.e.c.HoldBytes {
		return nil
	}
	return w.send(ctx, isFull)
}

// Delete implements search.Writer.
func (w *writer) Delete(ctx context.Context, path string, old int) error {
	if err := w.turn.wait(ctx); err != nil {
		return unwritable(err)
	}
	defer w.turn.release()
	if w.isDone {
		return errEnded
	}
	key := w.key(path)
	w.files[key] = extent{most: max(w.files[key].most, old)}
	return nil
}

// A fill says which batches are worth a request.
type fill bool

const (
	isFull fill = true
	isAny  fill = false
)

// send sends what is held in batches. The last one stays when only full ones are
// asked for.
func (w *writer) send(ctx context.Context, which fill) error {
	for len(w.ops) > 0 {
		n, size := 0, 0
		for n < len(w.ops) && n < maxBatch {
			next := sizeOf(w.ops[n])
			if n > 0 && size+next > maxBatchBytes {
				break
			}
			size += next
			n++
		}
		if which == isFull && n == len(w.ops) && n < maxBatch {
			return nil
		}
		if err := w.check(ctx); err != nil {
			return err
		}
		w.isSent = true
		task, err := w.e.batch(ctx, w.ops[:n])
		if err != nil {
			return unwritable(err)
		}
		w.tasks = append(w.tasks, task)
		w.ops = append([]client.BatchOperation(nil), w.ops[n:]...)
		w.bytes -= size
	}
	return nil
}

// check fails when the run has been taken over.
func (w *writer) check(ctx context.Context) error {
	if w.e.c.Check == nil || w.checked.ID == 0 {
		return nil
	}
	if err := w.e.c.Check(ctx, w.checked); err != nil {
		return fmt.Errorf("write search records of run %d: %w", w.run.ID, err)
	}
	return nil
}

func sizeOf(op client.BatchOperation) int {
	data, _ := op.Body.(json.RawMessage)
	return len(data)
}

// batch sends operations in one request and returns its task.
func (e *Engine) batch(ctx context.Context, ops []client.BatchOperation) (task int64, err error) {
	err = e.call(ctx, "batch", triesOfWrite, func(ctx context.Context) error {
		res, err := e.index.Batch(ops, ctx)
		task = res.TaskID
		return checkTask(task, err)
	})
	return task, err
}

// checkTask fails when the answer to a change names no task, as it always does.
func checkTask(task int64, err error) error {
	if err == nil && task == 0 {
		return errors.New("the answer has no taskID")
	}
	return err
}

// Commit implements search.Writer: changed records are written, and are there
// for searches, before stale ones are deleted. When it returns, all is done at
// the service.
func (w *writer) Commit(ctx context.Context) error {
	if err := w.turn.wait(ctx); err != nil {
		return unwritable(err)
	}
	defer w.turn.release()
	if w.isDone {
		return errEnded
	}
	if err := w.send(ctx, isAny); err != nil {
		return err
	}
	for len(w.tasks) > 0 {
		if err := w.e.await(ctx, w.tasks[0]); err != nil {
			return unwritable(err)
		}
		w.tasks = w.tasks[1:]
	}
	stale, err := w.stale(ctx)
	if err != nil {
		return unwritable(err)
	}
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.remove(ctx, stale); err != nil {
		return unwritable(err)
	}
	w.end()
	return nil
}

// stale returns the ids of records that the run no longer has. Without a base
// these are all others of the repository, whoever wrote them.
func (w *writer) stale(ctx context.Context) (ids []string, err error) {
	switch {
	case w.base == 0:
		if !w.isSent {
			if err := w.e.awaitEarlier(ctx, w.repo); err != nil {
				return nil, err
			}
		}
		return w.surplus(ctx, repositoryFilter(w.repo))
	case w.isMixed:
		if ids, err = w.surplus(ctx, laterFilter(w.repo, w.base)); err != nil {
			return nil, err
		}
	}
	for key, x := range w.files {
		for i := x.now; i < x.most; i++ {
			ids = append(ids, key+strconv.Itoa(i))
		}
	}
	return ids, nil
}

// surplus lists what a filter matches and this writer did not write.
func (w *writer) surplus(ctx context.Context, filters string) (ids []string, err error) {
	err = w.e.browse(ctx, filters, func(found stored) {
		at := strings.LastIndexByte(found.ObjectID, '-') + 1
		n, err := strconv.Atoi(found.ObjectID[at:])
		if err != nil || n < 0 || n >= w.files[found.ObjectID[:at]].now {
			ids = append(ids, found.ObjectID)
		}
	})
	return ids, err
}

// remove deletes stale records. A run that wrote none leaves a mark first: should
// it never be published, the next Begin could not see that some are gone.
func (w *writer) remove(ctx context.Context, stale []string) error {
	if w.base != 0 && !w.isSent && len(stale) > 0 {
		task, err := w.e.batch(ctx, []client.BatchOperation{{Action: client.AddObject, Body: mark{
			ObjectID: search.ObjectID(w.repo, "", 0), Repository: w.repo, Run: w.run.ID, Type: codesage.EntityImport,
		}}})
		if err != nil {
			return err
		}
		if err := w.e.await(ctx, task); err != nil {
			return err
		}
	}
	return w.e.remove(ctx, stale)
}

// A mark is a record without a word in it, so that no search finds it. A
// repository has one at most; searches for all but imports don't even look at
// it.
type mark struct {
	ObjectID   string                `json:"objectID"`
	Repository codesage.RepositoryID `json:"repository_id"`
	Run        codesage.RunID        `json:"run"`
	Type       codesage.EntityType   `json:"entity_type"`
}

// Abort implements search.Writer. What was sent already stays until the next
// writer of the repository or, when the repository is gone, until Retain.
func (w *writer) Abort() {
	w.turn <- struct{}{}
	defer w.turn.release()
	if !w.isDone {
		w.end()
	}
}

// end lets the next writer of the repository begin; the caller has the turn.
func (w *writer) end() {
	w.isDone = true
	w.ops, w.files = nil, nil
	w.lock.release()
}
