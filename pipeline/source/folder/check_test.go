package folder

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"codesage"
	"codesage/pipeline/source"
)

func TestCheckSeesThatTheFolderIsNoLongerInItsPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(dir string) error
		want   codesage.Kind
	}{
		{"nothing happened", func(string) error { return nil }, ""},
		{"its files were deleted", func(dir string) error { return os.RemoveAll(filepath.Join(dir, "sub")) }, ""},
		{"deleted", os.RemoveAll, codesage.KindNotFound},
		{"moved away", func(dir string) error { return os.Rename(dir, dir+"-2") }, codesage.KindNotFound},
		{"the folder above was moved away", func(dir string) error { return os.Rename(filepath.Dir(dir), filepath.Dir(dir)+"-2") }, codesage.KindNotFound},
		{"moved away and back", func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-2"), os.Rename(dir+"-2", dir))
		}, ""},
		{"made anew", func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)) }, codesage.KindNotFound},
		{"a file took its place", func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644))
		}, codesage.KindNotFound},
		{"not to be read any more", func(dir string) error { return os.Chmod(dir, 0) }, codesage.KindDenied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "above", "app")
			plant(t, dir, map[string]string{"a.go": "a", "sub/b.go": "b"})
			c := fetch(t, dir, codesage.IndexOptions{})
			if err := tc.change(dir); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
			if tc.want == codesage.KindDenied && os.Geteuid() == 0 {
				t.Skip("root reads everything")
			}
			if err := c.Check(t.Context()); codesage.KindOf(err) != tc.want {
				t.Errorf("got %v, want kind %q", err, tc.want)
			}
		})
	}
}

func TestAFileThatIsReplacedWhileItIsReadIsNotGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string]string{"d/a.go": "a"})
	c := fetch(t, dir, codesage.IndexOptions{})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := os.WriteFile(dir+"/d/new", []byte("a"), 0o644); err != nil {
				t.Error(err)
				return
			}
			if err := os.Rename(dir+"/d/new", dir+"/d/a.go"); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 2000 {
		if _, _, err := c.Read(t.Context(), source.File{Path: "d/a.go"}, 100); errors.Is(err, codesage.ErrNotFound) {
			t.Error(err)
			break
		}
	}
	close(stop)
	<-done
}
