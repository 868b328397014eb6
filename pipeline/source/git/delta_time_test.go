package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"testing"
	"time"

	"codesage"
	"codesage/pipeline/source/git/gittest"
)

// varint writes a size as the header of a delta has it.
func varint(n int64) []byte {
	var out []byte
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// copies is a delta of n copies of one byte each.
func copies(base int64, n int) []byte {
	return append(append(varint(base), varint(int64(n))...), bytes.Repeat([]byte{0x90, 0x01}, n)...)
}

// TestDeltasEndWithTheClone has packs of some kilobytes that take long to
// resolve: the limit of time holds then too.
func TestDeltasEndWithTheClone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("unpacks gigabytes")
	}
	for _, tc := range []struct {
		name             string
		base             int64
		copies, children int
	}{
		{"long deltas on a large base", 2 << 20, 20_000_000, 20},
		{"short deltas on a base in memory", 1 << 20, 1, 20_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := gittest.New(t)
			base := gittest.Name("blob", tc.base, gittest.Zeros(tc.base))
			entries := []gittest.PackEntry{{Type: gittest.PackBlob, Data: gittest.Zeros(tc.base), Size: tc.base}}
			delta := copies(tc.base, tc.copies)
			for range tc.children {
				e := gittest.Bytes(gittest.PackRefDelta, delta)
				e.Base = base
				entries = append(entries, e)
			}
			raw := []byte(treeEntry("100644", "a", hex.EncodeToString(base[:])))
			commit, name := gittest.CommitOf(gittest.Name("tree", int64(len(raw)), bytes.NewReader(raw)))
			entries = append(entries, gittest.Bytes(gittest.PackTree, raw), gittest.Bytes(gittest.PackCommit, commit))
			server.Handle("evil.example.org", gittest.Pack(name, gittest.MakePack(len(entries), entries...)))
			cfg := config(t, server)
			cfg.CloneTimeout = 3 * time.Second
			began := time.Now()
			c, err := open(t, cfg).Fetch(context.Background(), codesage.Repository{URL: "https://evil.example.org/o/r"})
			took := time.Since(began)
			t.Logf("%v, %v", took.Round(time.Millisecond), err)
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if err == nil {
				_ = c.Close()
			}
		})
	}
}
