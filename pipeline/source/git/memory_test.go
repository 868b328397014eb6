package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/pipeline/memorytest"
	"codesage/pipeline/source"
	"codesage/pipeline/source/git/gittest"
)

// maxPeak is what a hostile host may make a process use, this test's own host
// included.
const maxPeak = 300 << 20

// A memoryCase is a host that would cost memory if something was not bounded. It
// gives the error that ends it; nil for one that is served.
type memoryCase func(t *testing.T, server *gittest.Server) (s *Source, want error)

var memoryCases = map[string]memoryCase{
	"bomb":              caseBomb,
	"lying bomb":        caseLyingBomb,
	"chain of deltas":   caseChain,
	"100000 references": caseReferences,
	"endless list":      caseEndlessList,
	"large folder":      caseLargeFolder,
	"many objects":      caseManyObjects,
}

func TestMemoryStaysBounded(t *testing.T) { memorytest.Run(t, maxPeak, memoryCases, runMemoryCase) }

func runMemoryCase(t *testing.T, host memoryCase) {
	server := gittest.New(t)
	s, want := host(t, server)
	c, err := s.Fetch(context.Background(), codesage.Repository{URL: "https://evil.example.org/o/r"})
	if err == nil {
		list := c.List(context.Background(), func(f source.File) error {
			_, _, err := c.Read(context.Background(), f, 1<<20)
			return err
		}, func(codesage.Skip) error { return nil })
		err = errors.Join(list, c.Close())
	}
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%v (%v), want %v", err, unwrapped(err), want)
	}
}

// patient returns a Source with a time limit that a busy machine keeps.
func patient(t *testing.T, server *gittest.Server) *Source {
	cfg := config(t, server)
	cfg.CloneTimeout = 2 * time.Minute
	return open(t, cfg)
}

func caseBomb(t *testing.T, server *gittest.Server) (*Source, error) {
	pack := gittest.MakePack(1, gittest.PackEntry{Type: gittest.PackBlob, Size: 1500 << 20, Data: gittest.Zeros(1500 << 20)})
	if len(pack) > 2<<20 {
		t.Fatalf("the bomb has %d bytes", len(pack))
	}
	server.Handle("evil.example.org", gittest.Pack(gittest.Commit, pack))
	return patient(t, server), codesage.ErrTooLarge
}

func caseLyingBomb(t *testing.T, server *gittest.Server) (*Source, error) {
	pack := gittest.MakePack(1, gittest.PackEntry{Type: gittest.PackBlob, Size: 64 << 20, Data: gittest.Zeros(500 << 20)})
	server.Handle("evil.example.org", gittest.Pack(gittest.Commit, pack))
	return patient(t, server), codesage.ErrUnavailable
}

// caseChain is a chain of deltas of 60 MB objects, the deepest first: whoever
// resolves it by recursion holds all of them at once.
func caseChain(t *testing.T, server *gittest.Server) (*Source, error) {
	const size, links = 60 << 20, 6
	blob := func(n int) (int64, io.Reader) {
		return size + int64(n), io.MultiReader(gittest.Zeros(size), bytes.NewReader(bytes.Repeat([]byte{'x'}, n)))
	}
	var entries []gittest.PackEntry
	var tree strings.Builder
	for n := range links {
		length, content := blob(n)
		name := gittest.Name("blob", length, content)
		tree.WriteString(treeEntry("100644", fmt.Sprint(n), hex.EncodeToString(name[:])))
		delta := gittest.Bytes(gittest.PackRefDelta, gittest.Delta(length, []byte{'x'}))
		delta.Base = name
		entries = append([]gittest.PackEntry{delta}, entries...)
	}
	entries = append(entries, gittest.PackEntry{Type: gittest.PackBlob, Data: gittest.Zeros(size), Size: size})
	raw := []byte(tree.String())
	commit, name := gittest.CommitOf(gittest.Name("tree", int64(len(raw)), bytes.NewReader(raw)))
	entries = append(entries, gittest.Bytes(gittest.PackTree, raw), gittest.Bytes(gittest.PackCommit, commit))
	server.Handle("evil.example.org", gittest.Pack(name, gittest.MakePack(len(entries), entries...)))
	return patient(t, server), nil
}

func caseReferences(t *testing.T, server *gittest.Server) (*Source, error) {
	repo := server.Repo("evil.example.org", "o/r")
	commit := repo.Commit("main", gittest.Files(map[string]string{"a": "a"}))
	var refs strings.Builder
	refs.WriteString("# pack-refs with: peeled fully-peeled sorted\n")
	for i := range 100_000 {
		fmt.Fprintf(&refs, "%s refs/heads/branch-with-a-name-%06d\n", commit, i)
	}
	if err := os.WriteFile(filepath.Join(repo.Dir(), "packed-refs"), []byte(refs.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := patient(t, server)
	head, err := s.Preflight(context.Background(), parse(t, repo.URL(), "branch-with-a-name-099999"))
	if err != nil || head.Commit != commit {
		t.Errorf("%+v, %v", head, err)
	}
	return s, nil
}

func caseEndlessList(t *testing.T, server *gittest.Server) (*Source, error) {
	server.Handle("evil.example.org", gittest.EndlessRefs(0))
	return patient(t, server), codesage.ErrTooLarge
}

// caseLargeFolder is a folder as large as a list may hold open.
func caseLargeFolder(t *testing.T, server *gittest.Server) (*Source, error) {
	blob := gittest.Name("blob", 1, strings.NewReader("x"))
	var tree bytes.Buffer
	for i := 0; tree.Len() < maxTreeBytes-100; i++ {
		fmt.Fprintf(&tree, "100644 %020x\x00", i)
		tree.Write(blob[:])
	}
	return packOf(t, server, tree.Bytes(), gittest.Bytes(gittest.PackBlob, []byte("x"))), nil
}

// caseManyObjects is a pack with as many objects as are allowed.
func caseManyObjects(t *testing.T, server *gittest.Server) (*Source, error) {
	tree := gittest.Bytes(gittest.PackTree, nil)
	commit, name := gittest.CommitOf(gittest.Name("tree", 0, strings.NewReader("")))
	pack := gittest.MakePackOf(MaxObjects, func(yield func(gittest.PackEntry) bool) {
		for i := range MaxObjects - 2 {
			e := gittest.Bytes(gittest.PackBlob, fmt.Append(nil, i))
			e.Stored = true
			yield(e)
		}
		yield(tree)
		yield(gittest.Bytes(gittest.PackCommit, commit))
	})
	server.Handle("evil.example.org", gittest.Pack(name, pack))
	return patient(t, server), nil
}

// packOf plays a host whose commit has one folder.
func packOf(t *testing.T, server *gittest.Server, tree []byte, entries ...gittest.PackEntry) *Source {
	commit, name := gittest.CommitOf(gittest.Name("tree", int64(len(tree)), bytes.NewReader(tree)))
	entries = append(entries, gittest.Bytes(gittest.PackTree, tree), gittest.Bytes(gittest.PackCommit, commit))
	server.Handle("evil.example.org", gittest.Pack(name, gittest.MakePack(len(entries), entries...)))
	return patient(t, server)
}
