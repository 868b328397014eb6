package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/pipeline"
	"codesage/pipeline/source/git"
	"codesage/pipeline/source/git/gittest"
	"codesage/store"
)

// headSource is the git source as the program gives it to the pipeline.
type headSource struct{ *git.Source }

func (s headSource) Head(ctx context.Context, repo codesage.Repository) (string, error) {
	head, err := s.Source.Head(ctx, repo)
	return head.Commit, err
}

var gitLimits = pipeline.Limits{MaxFiles: 1000, MaxBytes: 100_000_000, MaxFileBytes: 1_000_000, Generated: true}

// newGitHouse is a house whose git hosts are played by a server. The test fails
// when a clone leaves a file behind.
func newGitHouse(t *testing.T) (*house, *gittest.Server) {
	t.Helper()
	h, server, temp := newHouse(t), gittest.New(t), t.TempDir()
	s, err := git.New(git.Config{TempDir: temp, Dial: server.Dial, Resolve: server.Resolve, RootCAs: server.RootCAs()})
	if err != nil {
		t.Fatal(err)
	}
	h.pipeline.Sources[codesage.SourceGit] = headSource{s}
	h.pipeline.Limits[codesage.SourceGit] = gitLimits
	t.Cleanup(func() {
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary folder: %v, %v", left, err)
		}
	})
	return h, server
}

// indexGit adds a git repository and indexes it.
func (h *house) indexGit(name, url string) codesage.Repository {
	h.t.Helper()
	repo, run, err := h.store.CreateRepository(h.t.Context(), codesage.Repository{
		Name: name, Session: name, Source: codesage.SourceGit, URL: url,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.work(run); err != nil {
		h.t.Fatal(err)
	}
	return h.repository(repo.ID)
}

// follow works on a run that nobody asked for.
func (h *house) follow(id codesage.RepositoryID, trigger codesage.Trigger) codesage.Run {
	h.t.Helper()
	run, err := h.store.CreateRun(h.t.Context(), store.NewRun{Repository: id, Trigger: trigger})
	if err != nil {
		h.t.Fatal(err)
	}
	if run, err = h.work(run); err != nil {
		h.t.Fatal(err)
	}
	return run
}

// fetches counts the packs that hosts sent.
func fetches(server *gittest.Server) (n int) {
	for _, r := range server.Requests() {
		if strings.HasSuffix(r.Path, "/git-upload-pack") {
			n++
		}
	}
	return n
}

// goFiles makes n files with one function each.
func goFiles(n int) map[string]gittest.Change {
	files := map[string]gittest.Change{}
	for i := range n {
		files[fmt.Sprintf("p%d/f.go", i)] = gittest.Change{Data: fmt.Sprintf("package p%d\n\nfunc F%d() {}\n", i, i)}
	}
	return files
}

func TestAGitRefreshCostsWhatChanged(t *testing.T) {
	t.Parallel()
	h, server := newGitHouse(t)
	remote := server.Repo("gitlab.com", "group/sub/demo")
	remote.Commit("main", goFiles(20))
	repo := h.indexGit("gitlab.com/group/sub/demo", remote.URL())
	if got := repo.CommitSHA(); got != remote.Head("main") {
		t.Errorf("indexed commit %s, want %s", got, remote.Head("main"))
	}
	remote.Commit("main", gittest.Files(map[string]string{"p3/f.go": "package p3\n\nfunc Changed() {}\n"}))
	run, err := h.refresh(repo.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	if run.KeptFiles != 19 || run.ParsedFiles != 1 || run.TotalFiles != 20 || run.Commit != remote.Head("main") {
		t.Errorf("kept %d, parsed %d of %d at %s", run.KeptFiles, run.ParsedFiles, run.TotalFiles, run.Commit)
	}
	if hits := h.search(h.repository(repo.ID), "Changed"); len(hits) == 0 || hits[0] != "p3/f.go:3 Changed" {
		t.Errorf("got %q", hits)
	}
}

func TestARunOfAnUnmovedBranchFetchesNothing(t *testing.T) {
	t.Parallel()
	h, server := newGitHouse(t)
	remote := server.Repo("code.example.org", "o/r")
	files := goFiles(4)
	files["logo.png"] = gittest.Change{Data: "\x89PNG\x00"}
	files["latin.md"] = gittest.Change{Data: "\x81\x82\x83\x84\xff\xfe\x01\x02"}
	remote.Commit("main", files)
	repo := h.indexGit("r", remote.URL())
	want := h.state(repo)
	for _, trigger := range []codesage.Trigger{codesage.TriggerRefresh, codesage.TriggerWebhook} {
		before := fetches(server)
		run := h.follow(repo.ID, trigger)
		if got := fetches(server) - before; got != 0 {
			t.Errorf("%s: %d packs were fetched", trigger, got)
		}
		now := h.repository(repo.ID)
		if now.Published.ID != run.ID || run.Commit != remote.Head("main") || run.KeptFiles != 4 || run.ParsedFiles != 0 {
			t.Errorf("%s: run %+v", trigger, run)
		}
		if diff := cmp.Diff(want, h.state(now)); diff != "" {
			t.Errorf("%s: the index changed (-before +after):\n%s", trigger, diff)
		}
	}
	before := fetches(server)
	if _, err := h.refresh(repo.ID, false); err != nil {
		t.Fatal(err)
	}
	if fetches(server) == before {
		t.Error("a person's reprocess fetched nothing, though limits may have changed")
	}
	remote.Commit("main", gittest.Files(map[string]string{"new.go": "package p\n"}))
	if run := h.follow(repo.ID, codesage.TriggerRefresh); run.TotalFiles != 5 || run.ParsedFiles != 1 {
		t.Errorf("after a push: %d files, %d parsed", run.TotalFiles, run.ParsedFiles)
	}
}

// away is a store that can't list files.
type away struct{ store.Store }

func (away) ListFiles(context.Context, codesage.Snapshot, string, int) ([]codesage.File, error) {
	return nil, codesage.Errorf(codesage.KindUnavailable, "the database is away")
}

// In the fetch phase only a host can be away, which fails the run.
func TestADatabaseThatIsAwayIsNotTakenForTheHost(t *testing.T) {
	t.Parallel()
	h, server := newGitHouse(t)
	remote := server.Repo("code.example.org", "o/r")
	remote.Commit("main", goFiles(2))
	repo := h.indexGit("r", remote.URL())
	run, err := h.store.CreateRun(t.Context(), store.NewRun{Repository: repo.ID, Trigger: codesage.TriggerRefresh})
	if err == nil {
		run, err = h.store.StartRun(t.Context(), run.ID, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.pipeline.Store = away{h.store}
	var last codesage.Progress
	err = h.pipeline.Run(t.Context(), h.repository(repo.ID), run, func(p codesage.Progress) { last = p })
	if !errors.Is(err, codesage.ErrUnavailable) || last.Phase == codesage.PhaseFetch {
		t.Errorf("ended in phase %q: %v", last.Phase, err)
	}
}

func TestADefaultBranchThatIsRenamedIsFollowed(t *testing.T) {
	t.Parallel()
	h, server := newGitHouse(t)
	remote := server.Repo("code.example.org", "o/r")
	remote.Commit("main", goFiles(2))
	repo := h.indexGit("r", remote.URL())
	remote.Git("branch", "-m", "main", "trunk")
	remote.Git("symbolic-ref", "HEAD", "refs/heads/trunk")
	remote.Commit("trunk", gittest.Files(map[string]string{"late.go": "package late\n\nfunc Late() {}\n"}))
	run := h.follow(repo.ID, codesage.TriggerRefresh)
	if run.Commit != remote.Head("trunk") || run.ParsedFiles != 1 {
		t.Errorf("commit %s, parsed %d", run.Commit, run.ParsedFiles)
	}
}

func TestSelectionLimitsOfGit(t *testing.T) {
	t.Parallel()
	h, server := newGitHouse(t)
	remote := server.Repo("code.example.org", "o/large")
	files := map[string]gittest.Change{"README.md": {Data: "# Title\n"}, "conf.json": {Data: "{}\n"}, "big.go": {Data: "package big\n" + strings.Repeat("// x\n", 200_000)}}
	for i := range 1030 {
		files[fmt.Sprintf("src/f%04d.txt", i)] = gittest.Change{Data: "text\n"}
	}
	for i := range 5 {
		files[fmt.Sprintf("deep/er/than/all/f%d.go", i)] = gittest.Change{Data: fmt.Sprintf("package p\n\nfunc Deep%d() {}\n", i)}
	}
	remote.Commit("main", files)
	repo := h.indexGit("large", remote.URL())
	if got, want := repo.ErrorMessage(), "Partially indexed: 1000 of 1038 files (limit INDEX_MAX_FILES=1000: 37, over 1 MB: 1)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if repo.Status() != codesage.StatusCompleted || repo.Counted().TotalFiles != 1000 {
		t.Errorf("%s, %d files", repo.Status(), repo.Counted().TotalFiles)
	}
	for i := range 5 {
		if hits := h.search(repo, fmt.Sprintf("Deep%d", i)); len(hits) == 0 {
			t.Errorf("source Deep%d was left out for documents", i)
		}
	}

	h.pipeline.Limits[codesage.SourceGit] = pipeline.Limits{MaxBytes: 1000, MaxFileBytes: 500, Generated: true}
	small := server.Repo("code.example.org", "o/small")
	small.Commit("main", gittest.Files(map[string]string{
		"a.go": "package a\n" + strings.Repeat("// a\n", 80), "b.go": "package b\n" + strings.Repeat("// b\n", 80),
		"c.go": "package c\n" + strings.Repeat("// c\n", 80), "d.go": "package d\n", "e.go": strings.Repeat("//\n", 200),
	}))
	repo = h.indexGit("small", small.URL())
	if got, want := repo.ErrorMessage(), "Partially indexed: 3 of 5 files (limit INDEX_MAX_BYTES: 1, limit INDEX_MAX_FILE_BYTES=500: 1)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTheCommitIsKnownWhenTheFilesAreListed looks at what the run reports in
// each phase.
func TestTheCommitIsKnownWhenTheFilesAreListed(t *testing.T) {
	t.Parallel()
	h, server := newGitHouse(t)
	remote := server.Repo("code.example.org", "o/r")
	remote.Commit("main", goFiles(3))
	_, run, err := h.store.CreateRepository(t.Context(), codesage.Repository{Name: "r", Session: "r", Source: codesage.SourceGit, URL: remote.URL()})
	if err != nil {
		t.Fatal(err)
	}
	if run, err = h.store.StartRun(t.Context(), run.ID, 0); err != nil {
		t.Fatal(err)
	}
	commits := map[codesage.Phase]string{}
	err = h.pipeline.Run(t.Context(), h.repository(run.Repository), run, func(p codesage.Progress) {
		if p.TotalFiles > 0 && p.Commit != remote.Head("main") {
			t.Errorf("%s: %d files are listed, the commit is %q", p.Phase, p.TotalFiles, p.Commit)
		}
		commits[p.Phase] = p.Commit
	})
	if err != nil || commits[codesage.PhaseList] != remote.Head("main") {
		t.Errorf("%v, %v", commits, err)
	}
}

// TestAGitRefreshLeavesWhatAFreshIndexWould pushes random histories: edits,
// deletes, renames of files and folders, branches thrown away and forced back,
// a default branch under another name. After each push a refresh must leave
// what a fresh index of the same commit is.
func TestAGitRefreshLeavesWhatAFreshIndexWould(t *testing.T) {
	t.Parallel()
	rounds := 14
	if testing.Short() {
		rounds = 4
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	h, server := newGitHouse(t)
	p := &pusher{t: t, random: rand.New(rand.NewPCG(seed, 2)), repo: server.Repo("git.example.org", "o/r"), branch: "main", tree: map[string]string{}}
	p.edit(25)
	repo := h.indexGit("incremental", p.repo.URL())
	trigger := codesage.TriggerRefresh
	for round := range rounds {
		what := p.push()
		run := h.follow(repo.ID, trigger)
		if run.Commit != p.repo.Head(p.branch) {
			t.Fatalf("round %d, %s: commit %s, want %s", round, what, run.Commit, p.repo.Head(p.branch))
		}
		fresh := h.indexGit(fmt.Sprintf("fresh%d", round), p.repo.URL()+".git") // another URL of the same repository
		if diff := cmp.Diff(h.state(fresh), h.state(h.repository(repo.ID))); diff != "" {
			t.Fatalf("round %d, %s: a refresh differs from a fresh index (-fresh +refresh):\n%s", round, what, diff)
		}
		if err := h.store.DeleteRepository(t.Context(), fresh.ID); err != nil {
			t.Fatal(err)
		}
		trigger = []codesage.Trigger{codesage.TriggerRefresh, codesage.TriggerWebhook, codesage.TriggerReprocess}[p.random.IntN(3)]
	}
}

// pusher makes a random history.
type pusher struct {
	t      *testing.T
	random *rand.Rand
	repo   *gittest.Repo
	branch string
	tree   map[string]string
	past   []past // states that can be forced back
}

type past struct {
	commit string
	tree   map[string]string
}

// push does one random thing and says which.
func (p *pusher) push() string {
	switch n := p.random.IntN(8); {
	case n == 0 && len(p.past) > 1:
		old := p.past[p.random.IntN(len(p.past))]
		p.repo.Git("update-ref", "refs/heads/"+p.branch, old.commit)
		p.tree = maps.Clone(old.tree)
		return "a forced push of an old commit"
	case n == 1:
		tree := p.tree
		p.repo.Git("update-ref", "-d", "refs/heads/"+p.branch)
		p.tree = map[string]string{}
		p.commit(tree)
		p.edit(4)
		return "a forced push of a new history"
	case n == 2:
		p.renameFolder()
		return "a renamed folder"
	case n == 3:
		name := []string{"main", "trunk", "develop"}[p.random.IntN(3)]
		if name != p.branch {
			p.repo.Git("branch", "-m", p.branch, name)
			p.repo.Git("symbolic-ref", "HEAD", "refs/heads/"+name)
			p.branch = name
		}
		p.edit(1)
		return "another default branch"
	case n == 4:
		return "no push"
	}
	p.edit(1 + p.random.IntN(8))
	return "edits"
}

// edit changes n files with content that the folder's test has too.
func (p *pusher) edit(n int) {
	dir := p.t.TempDir()
	for path, text := range p.tree {
		write(p.t, dir, path, text)
	}
	edit(p.t, p.random, dir, n)
	tree := map[string]string{"keep.go": "package keep\n"}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		tree[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.commit(tree)
}

// renameFolder moves the files of one top folder to another.
func (p *pusher) renameFolder() {
	tops := []string{"b", "x", "sub", "doc"}
	from, to := tops[p.random.IntN(4)], tops[p.random.IntN(4)]
	tree := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(p.tree)) {
		name := path
		if rest, ok := strings.CutPrefix(path, from+"/"); ok {
			name = to + "/" + rest
		}
		tree[name] = p.tree[path]
	}
	p.commit(tree)
}

// commit makes the branch a tree of files.
func (p *pusher) commit(tree map[string]string) {
	changes := gittest.Files(tree)
	for path := range p.tree {
		if _, ok := tree[path]; !ok {
			changes[path] = gittest.Change{Delete: true}
		}
	}
	p.tree = tree
	p.past = append(p.past, past{p.repo.Commit(p.branch, changes), maps.Clone(tree)})
}
