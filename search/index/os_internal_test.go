//go:build linux

package index

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileThatIsReadIsTheFileThatIsMapped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("0123456789"), 10_000)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(*os.File, int) ([]byte, func() error, error){"mapped": mapFile, "read": readFile} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		data, release, err := open(f, len(want))
		if err != nil || !bytes.Equal(data, want) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
		if err := release(); err != nil {
			t.Errorf("%s: release: %v", name, err)
		}
		if _, _, err := readFile(f, len(want)+1); err == nil {
			t.Errorf("%s: a file that is too short was read", name)
		}
		_ = f.Close()
	}
}

func TestTheDiskOfThisMachineIsNotRemote(t *testing.T) {
	t.Parallel()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if isRemote(f) {
		t.Error("/proc counts as remote")
	}
	if len(remoteTypes) < 10 || remoteTypes[0x6969] != "nfs" {
		t.Errorf("%d file systems are known", len(remoteTypes))
	}
}
