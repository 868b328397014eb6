package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codesage"
	"codesage/pipeline/source"
)

func TestReadKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Repeat("0123456789", 300_000)
	plant(t, dir, map[string]string{"d/e/big": text, "empty": ""})
	c := fetch(t, dir, codesage.IndexOptions{})
	for _, tc := range []struct {
		path     string
		limit    int64
		want     string
		tooLarge bool
	}{
		{"d/e/big", int64(len(text)), text, false},
		{"d/e/big", int64(len(text)) + 5, text, false},
		{"d/e/big", int64(len(text)) - 1, text[:len(text)-1], true},
		{"d/e/big", 3, "012", true},
		{"d/e/big", 0, "", true},
		{"empty", 0, "", false},
		{"empty", 9, "", false},
	} {
		data, tooLarge, err := c.Read(t.Context(), source.File{Path: tc.path}, tc.limit)
		if err != nil || string(data) != tc.want || tooLarge != tc.tooLarge {
			t.Errorf("read %s, limit %d = %d bytes, %v, %v; want %d bytes, %v", tc.path, tc.limit, len(data), tooLarge, err, len(tc.want), tc.tooLarge)
		}
	}
}

func TestReadNeverLeavesTheFolder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "app")
	plant(t, top, map[string]string{
		"app-secret/key.txt": "SECRET", "app/ok.go": "ok", "app/sub/x": "x",
		"app/leak.go": "-> ../app-secret/key.txt", "app/d": "-> ../app-secret", "app/alias": "-> ok.go", "app/in": "-> sub",
	})
	c := fetch(t, dir, codesage.IndexOptions{})
	for _, path := range []string{
		"../app-secret/key.txt", top + "/app-secret/key.txt", "leak.go", "d/key.txt", "ok.go/../../app-secret/key.txt",
		"ok.go\x00.txt", "%2e%2e/app-secret/key.txt", "....//app-secret/key.txt", "", ".", "..", "/", "sub", "sub/", "ok.go/", "ok.go/x",
		"alias", "in/x", "gone", "sub//x/../../../app-secret/key.txt",
	} {
		data, _, err := c.Read(t.Context(), source.File{Path: path}, 100)
		if !errors.Is(err, codesage.ErrNotFound) || data != nil {
			t.Errorf("read %q = %q, %v; want not found", path, data, err)
		}
	}
}

// TestSwappedPartsAreNoticed changes the tree between List and Read.
func TestSwappedPartsAreNoticed(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "app")
	plant(t, top, map[string]string{"secret/key.txt": "SECRET", "app/sub/key.txt": "mine", "app/f": "mine"})
	c := fetch(t, dir, codesage.IndexOptions{})
	if paths, _ := list(t, c); len(paths) != 2 {
		t.Fatalf("paths = %q", paths)
	}
	for _, name := range []string{"sub", "f"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	plant(t, top, map[string]string{"app/sub": "-> ../secret", "app/f": "-> ../secret/key.txt"})
	for _, path := range []string{"sub/key.txt", "f"} {
		if data, _, err := c.Read(t.Context(), source.File{Path: path}, 100); !errors.Is(err, codesage.ErrNotFound) {
			t.Errorf("read %s = %q, %v; want not found", path, data, err)
		}
	}
	// The folder itself is replaced: the open one is still the one that was listed.
	if err := os.Rename(dir, dir+"-old"); err != nil {
		t.Fatal(err)
	}
	plant(t, top, map[string]string{"app": "-> secret"})
	if data, _, err := c.Read(t.Context(), source.File{Path: "key.txt"}, 100); !errors.Is(err, codesage.ErrNotFound) {
		t.Errorf("read = %q, %v; want not found", data, err)
	}
}

func TestCheckRoot(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plant(t, top, map[string]string{
		"w/app/x": "", "w/app-secret/x": "", "file": "", "w/app/file": "",
		"w/app/out": "-> ../app-secret", "w/app/in": "-> .", "toapp": "-> w/app", "w/dead": "-> no",
	})
	app := top + "/w/app"
	for _, tc := range []struct {
		name, path string
		roots      []string
		want       string
		kind       codesage.Kind
	}{
		{"the root itself", app, []string{app}, app, ""},
		{"a slash at the end", app + "/", []string{app + "/"}, app, ""},
		{"below the root", app, []string{top}, app, ""},
		{"any folder", app, []string{"/"}, app, ""},
		{"not clean", top + "/w/../w/./app", []string{app}, app, ""},
		{"a link into the root", top + "/toapp", []string{app}, app, ""},
		{"a root that is a link", app, []string{top + "/toapp"}, app, ""},
		{"a link within the root", app + "/in", []string{app}, app, ""},
		{"a sibling with the same start", top + "/w/app-secret", []string{app}, "", codesage.KindDenied},
		{"a link out of the root", app + "/out", []string{app}, "", codesage.KindDenied},
		{"above the root", top, []string{app}, "", codesage.KindDenied},
		{"no roots", app, nil, "", codesage.KindDenied},
		{"an empty root", app, []string{""}, "", codesage.KindDenied},
		{"a root that is gone", app, []string{top + "/gone"}, "", codesage.KindDenied},
		{"gone, inside", app + "/no", []string{app}, "", codesage.KindNotFound},
		{"gone, outside, tells nothing", top + "/no", []string{app}, "", codesage.KindDenied},
		{"a file outside tells nothing", top + "/file", []string{app}, "", codesage.KindDenied},
		{"a dead link", top + "/w/dead", []string{top}, "", codesage.KindNotFound},
		{"a file", app + "/file", []string{app}, "", codesage.KindInvalid},
		{"below a file", app + "/file/x", []string{app}, "", codesage.KindInvalid},
		{"empty", "", []string{"/"}, "", codesage.KindInvalid},
		{"a NUL", app + "\x00", []string{"/"}, "", codesage.KindInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := CheckRoot(tc.path, tc.roots)
			if got != tc.want || codesage.KindOf(err) != tc.kind {
				t.Errorf("CheckRoot = %q, %v (%s); want %q, %q", got, err, codesage.KindOf(err), tc.want, tc.kind)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("message has more than one line: %q", err)
			}
		})
	}
}
