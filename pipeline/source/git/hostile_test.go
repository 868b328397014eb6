package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/pipeline/source"
	"codesage/pipeline/source/git/gittest"
)

func TestHostileHosts(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	cfg := config(t, server)
	cfg.CloneMaxBytes = 30_000_000
	cfg.CloneTimeout = 30 * time.Second
	s := open(t, cfg)
	cfg.CloneTimeout = 500 * time.Millisecond
	hurried := open(t, cfg)
	cfg.CloneTimeout, cfg.IdleTimeout = 30*time.Second, 300*time.Millisecond
	impatient := open(t, cfg)
	noise := bytes.Repeat([]byte("x"), 60000)
	const url = "https://evil.example.org/o/r"
	for _, tc := range []struct {
		name   string
		source *Source
		host   http.Handler
		kind   codesage.Kind
		want   string
	}{
		{"endless list of references", s, gittest.EndlessRefs(4000), codesage.KindTooLarge, "evil.example.org/o/r is larger than 30 MB (CLONE_MAX_BYTES)."},
		{"endless progress", s, gittest.EndlessPack(append([]byte{2}, noise...)), codesage.KindTooLarge, "evil.example.org/o/r is larger than 30 MB (CLONE_MAX_BYTES)."},
		{"endless nonsense", s, gittest.EndlessPack(append([]byte{1}, noise...)), codesage.KindUnavailable, "evil.example.org sent a broken copy of evil.example.org/o/r; try again."},
		{"endless error message", s, gittest.EndlessError(http.StatusInternalServerError), codesage.KindUnavailable, "Could not reach evil.example.org; try again."},
		{"endless refusal", s, gittest.EndlessError(http.StatusUnauthorized), codesage.KindNotFound, "evil.example.org/o/r was not found or is private; only public repositories are supported on evil.example.org."},
		{"error from the other side", s, gittest.EndlessPack(append([]byte{3}, noise...)), codesage.KindUnavailable, "Could not reach evil.example.org; try again."},
		{"no git at all", s, gittest.Status(http.StatusOK), codesage.KindUnavailable, "Could not reach evil.example.org; try again."},
		{"pack without the commit", s, gittest.Pack(gittest.Commit, gittest.MakePack(0)), codesage.KindUnavailable, "evil.example.org sent a broken copy of evil.example.org/o/r; try again."},
		{"one object of 1.5 GB", s, gittest.Pack(gittest.Commit, gittest.MakePack(1, gittest.PackEntry{Type: gittest.PackBlob, Size: 1500 << 20, Data: gittest.Zeros(1 << 20)})), codesage.KindTooLarge, "evil.example.org/o/r holds a file of more than 64 MB."},
		{"too many objects", s, gittest.Pack(gittest.Commit, gittest.MakePack(MaxObjects+1)), codesage.KindTooLarge, "evil.example.org/o/r has more than 500000 objects."},
		{"stops in the pack", impatient, gittest.StalledPack(), codesage.KindTimeout, "evil.example.org stopped sending; try again."},
		{"stops in the pack, time limit first", hurried, gittest.StalledPack(), codesage.KindTimeout, "Fetching evil.example.org/o/r took longer than 500ms (CLONE_TIMEOUT)."},
		{"sends for ever, time limit first", hurried, trickle(), codesage.KindTimeout, "Fetching evil.example.org/o/r took longer than 500ms (CLONE_TIMEOUT)."},
		{"redirect while cloning", s, gittest.Redirect("https://127.0.0.1"), codesage.KindInvalid, "Can't index evil.example.org/o/r: evil.example.org redirects to another host."},
	} {
		server.Handle("evil.example.org", tc.host)
		began := time.Now()
		_, err := tc.source.Fetch(context.Background(), codesage.Repository{URL: url})
		if err == nil || codesage.KindOf(err) != tc.kind || err.Error() != tc.want {
			t.Errorf("%s:\n got %s: %v\nwant %s: %s\n(%v)", tc.name, codesage.KindOf(err), err, tc.kind, tc.want, unwrapped(err))
		}
		if took := time.Since(began); tc.source != s && took > 5*time.Second {
			t.Errorf("%s took %s", tc.name, took)
		}
		noSecretIn(t, err)
	}
}

// trickle is a host that sends a little progress again and again.
func trickle() http.Handler {
	pack := gittest.EndlessPack([]byte("\x02still working\n"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			pack.ServeHTTP(w, r)
			return
		}
		pack.ServeHTTP(&slow{w, r.Context()}, r)
	})
}

// slow is a ResponseWriter that writes every few milliseconds.
type slow struct {
	http.ResponseWriter
	ctx context.Context
}

func (s *slow) Write(p []byte) (int, error) {
	n, err := s.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(s.ResponseWriter).Flush()
	}
	pause := time.NewTimer(2 * time.Millisecond)
	defer pause.Stop()
	select {
	case <-s.ctx.Done():
		return n, s.ctx.Err()
	case <-pause.C:
	}
	return n, err
}

func TestRedirectIsErrRedirect(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	server.Handle("evil.example.org", gittest.Redirect("https://127.0.0.1"))
	s := open(t, config(t, server))
	if _, err := s.Preflight(context.Background(), parse(t, "https://evil.example.org/o/r", "")); !errors.Is(err, ErrRedirect) {
		t.Errorf("got %v", err)
	}
}

func TestTokenIsNotSentBackOut(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	s := open(t, config(t, server))
	for _, code := range []int{400, 401, 403, 404, 418, 429, 500, 503} {
		server.Handle("github.com", gittest.Status(code))
		server.Handle("api.github.com", gittest.Status(code))
		_, head := s.Head(context.Background(), codesage.Repository{URL: "https://github.com/o/r"})
		_, api := s.Preflight(context.Background(), parse(t, "https://github.com/o/r", ""))
		_, clone := s.Fetch(context.Background(), codesage.Repository{URL: "https://github.com/o/r"})
		for _, err := range []error{head, api, clone} {
			if err == nil {
				t.Errorf("%d is no error", code)
			}
			noSecretIn(t, err)
		}
	}
	sent := false
	for _, r := range server.Requests() {
		sent = sent || r.Authorization == basicAuth(testToken)
	}
	if !sent {
		t.Error("the token was not sent at all")
	}
}

// treeEntry is the raw form of an entry of a folder.
func treeEntry(mode, name, hash string) string {
	raw, _ := hex.DecodeString(hash)
	return mode + " " + name + "\x00" + string(raw)
}

func TestHostilePathNames(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("evil.example.org", "o/r")
	blob := repo.Object("blob", []byte("text"))
	folder := repo.Object("tree", []byte(treeEntry("100644", "file", blob)))
	long := strings.Repeat("n", 4000)
	var raw strings.Builder
	for _, e := range [][3]string{
		{"100644", "README", blob}, {"100644", "Readme", blob}, {"100644", "readme", blob},
		{"40000", "..", folder}, {"40000", ".", folder}, {"40000", ".git", folder}, {"40000", ".GIT", folder},
		{"100644", "../up", blob}, {"100644", "/etc/passwd", blob}, {"100644", "dir/file", blob}, {"40000", "dir", folder},
		{"100644", "new\nline", blob}, {"100644", "esc\x1b[2J", blob}, {"100644", "latin-\xe9", blob}, {"100644", long, blob},
		{"100644", `back\slash`, blob}, {"100644", "ünï", blob}, {"100644", "same", blob}, {"120000", "same", blob},
		{"100664", "old-mode", blob}, {"0", "no-mode", blob}, {"100644", "no-blob", gittest.Commit},
	} {
		raw.WriteString(treeEntry(e[0], e[1], e[2]))
	}
	tree := repo.Object("tree", []byte(raw.String()))
	rawTree, _ := hex.DecodeString(tree)
	commit, name := gittest.CommitOf([20]byte(rawTree))
	inner := []byte(treeEntry("100644", "file", blob))
	server.Handle("evil.example.org", gittest.Pack(name, gittest.MakePack(4, gittest.Bytes(gittest.PackCommit, commit),
		gittest.Bytes(gittest.PackTree, []byte(raw.String())), gittest.Bytes(gittest.PackTree, inner), gittest.Bytes(gittest.PackBlob, []byte("text")))))

	files, skips := listed(t, fetch(t, open(t, config(t, server)), repo.URL(), ""))
	var got []string
	for _, f := range files {
		got = append(got, f.Path)
	}
	if d := cmp.Diff(got, []string{"README", "Readme", `back\slash`, "dir/file", "old-mode", "readme", "same", "ünï"}); d != "" {
		t.Errorf("files:\n%s", d)
	}
	reasons := map[codesage.SkipReason]int{}
	for _, s := range skips {
		reasons[s.Reason]++
		if !utf8.ValidString(s.Path) || strings.ContainsAny(s.Path, "\n\x1b") || len(s.Path) > 4*maxShown {
			t.Errorf("skip %q", s.Path)
		}
	}
	if d := cmp.Diff(reasons, map[codesage.SkipReason]int{codesage.SkipPath: 12, codesage.SkipSubmodule: 1, codesage.SkipUnreadable: 1}); d != "" {
		t.Errorf("skips %v:\n%s", skips, d)
	}
}

// layers makes a pack whose tree has depth layers of width times the same
// folder: a few objects, and width to the power of depth files.
func layers(depth, width int) http.Handler {
	blob := []byte("x")
	entries := []gittest.PackEntry{gittest.Bytes(gittest.PackBlob, blob)}
	mode, below := "100644", gittest.Name("blob", 1, bytes.NewReader(blob))
	for range depth {
		var raw strings.Builder
		for i := range width {
			raw.WriteString(treeEntry(mode, fmt.Sprintf("%02d", i), hex.EncodeToString(below[:])))
		}
		data := []byte(raw.String())
		entries = append(entries, gittest.Bytes(gittest.PackTree, data))
		mode, below = "40000", gittest.Name("tree", int64(len(data)), bytes.NewReader(data))
	}
	commit, name := gittest.CommitOf(below)
	entries = append(entries, gittest.Bytes(gittest.PackCommit, commit))
	return gittest.Pack(name, gittest.MakePack(len(entries), entries...))
}

func TestTreeWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	s := open(t, config(t, server))
	for _, host := range []http.Handler{layers(12, 50), layers(3000, 1)} {
		server.Handle("evil.example.org", host)
		c := fetch(t, s, "https://evil.example.org/o/r", "")
		files := 0
		err := c.List(context.Background(), func(source.File) error { files++; return nil }, func(codesage.Skip) error { return nil })
		if err != nil && !strings.Contains(err.Error(), "can't be indexed: it has too many files (limit 400000, and 64 MB of paths)") {
			t.Error(err)
		}
		if files > MaxEntries || files > 0 && codesage.KindOf(err) != codesage.KindTooLarge || files == 0 && err != nil {
			t.Errorf("%d files, %v", files, err)
		}
	}
}

// FuzzList gives the walk folders of any bytes.
func FuzzList(f *testing.F) {
	hash := strings.Repeat("ab", 20)
	for _, s := range []string{
		treeEntry("100644", "a", hash), treeEntry("40000", "..", hash), treeEntry("100644", "a\nb", hash) + treeEntry("120000", "\xff", hash),
		treeEntry("160000", strings.Repeat("n", 300), hash), "100644 a", "x", treeEntry("40000", "d", hash) + treeEntry("100644", "d", hash),
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		name := gittest.Name("tree", int64(len(raw)), bytes.NewReader(raw))
		commit, commitName := gittest.CommitOf(name)
		pack := gittest.MakePack(2, gittest.Bytes(gittest.PackTree, raw), gittest.Bytes(gittest.PackCommit, commit))
		objs, _, err := unpackIn(t, dir, pack, roomy)
		if err != nil {
			t.Fatal(err)
		}
		c := &checkout{commit: commitName, objects: objs}
		if err := c.findTree(); err != nil {
			t.Fatal(err)
		}
		_ = c.List(context.Background(), func(f source.File) error {
			t.Fatalf("there is no file, but %q", f.Path)
			return nil
		}, func(s codesage.Skip) error {
			if !utf8.ValidString(s.Path) || strings.ContainsAny(s.Path, "\x00\n") || s.Path == "" || s.Reason != codesage.SkipPath && strings.Contains("/"+s.Path+"/", "/../") {
				t.Fatalf("skip %+v", s)
			}
			return nil
		})
	})
}
