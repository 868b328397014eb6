package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"codesage/pipeline/source/git/gittest"
)

// roomy are limits that no test but those of limits comes near.
var roomy = packLimits{object: 1 << 20, total: 1 << 24, count: 1000}

// unpackBytes unpacks a pack into a heap that is closed when the test ends.
func unpackBytes(t testing.TB, pack []byte, limits packLimits) (*objects, *heap, error) {
	t.Helper()
	return unpackIn(t, t.TempDir(), pack, limits)
}

// unpackIn is unpackBytes with a folder of its own.
func unpackIn(t testing.TB, dir string, pack []byte, limits packLimits) (*objects, *heap, error) {
	t.Helper()
	h, err := newHeap(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.close() })
	objs, err := unpack(context.Background(), bytes.NewReader(pack), h, limits, func() {})
	return objs, h, err
}

func TestUnpackGivesWhatGitHas(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("code.example.org", "o/r")
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]string, 3000)
	for i := range text {
		text[i] = fmt.Sprintf("line %d of %d\n", i, random.IntN(1e9))
	}
	for range 12 {
		for range 10 {
			text[random.IntN(len(text))] = fmt.Sprintf("changed to %d\n", random.IntN(1e9))
		}
		big := strings.Repeat(strings.Join(text, ""), 20) // over baseInMemory
		repo.Commit("main", gittest.Files(map[string]string{"a.txt": strings.Join(text, ""), "b/big.txt": big, "empty": ""}))
	}
	names := repo.Git("rev-list", "--objects", "--all", "--no-object-names")
	for _, option := range []string{"--delta-base-offset", "--depth=30"} { // without the first: bases by name
		pack := []byte(repo.Git("pack-objects", "--all", "--stdout", "-q", "--window=20", option))
		objs, _, err := unpackBytes(t, pack, packLimits{object: 1 << 23, total: 1 << 28, count: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(objs.byHash), strings.Count(names, "\n"); got != want {
			t.Errorf("%s: %d objects, want %d", option, got, want)
		}
		for _, name := range strings.Fields(names) {
			i, ok := objs.byHash[plumbing.NewHash(name)]
			if !ok {
				t.Fatalf("%s is missing", name)
			}
			e := objs.entries[i]
			data, err := objs.read(e, e.size)
			if want := repo.Git("cat-file", e.typ.String(), name); err != nil || string(data) != want {
				t.Fatalf("%s %s differs: %v", e.typ, name, err)
			}
		}
	}
}

// packs are hand-made packs with what is wrong with them.
func packs() map[string]struct {
	pack []byte
	want error
} {
	blob := []byte("0123456789")
	name := gittest.Name("blob", 10, bytes.NewReader(blob))
	good := gittest.MakePack(1, gittest.Bytes(gittest.PackBlob, blob))
	broken := bytes.Clone(good)
	broken[20] ^= 0x10
	delta := func(d []byte) []byte {
		e := gittest.Bytes(gittest.PackRefDelta, d)
		e.Base = name
		return gittest.MakePack(2, gittest.Bytes(gittest.PackBlob, blob), e)
	}
	sized := func(typ int, declared, actual int64) []byte {
		return gittest.MakePack(1, gittest.PackEntry{Type: typ, Data: gittest.Zeros(actual), Size: declared})
	}
	self := gittest.PackEntry{Type: gittest.PackOfsDelta, Data: bytes.NewReader(blob), Size: 10, Back: 0}
	far := gittest.PackEntry{Type: gittest.PackOfsDelta, Data: bytes.NewReader(blob), Size: 10, Back: 1 << 40}
	return map[string]struct {
		pack []byte
		want error
	}{
		"good":                       {good, nil},
		"empty":                      {gittest.MakePack(0), nil},
		"good delta":                 {delta(gittest.Delta(10, []byte("abc"))), nil},
		"nothing":                    {nil, errMalformed},
		"no pack":                    {[]byte("<html>not a pack</html>"), errMalformed},
		"flipped bit":                {broken, errMalformed},
		"cut off":                    {good[:len(good)-25], errMalformed},
		"no checksum":                {good[:len(good)-20], errMalformed},
		"fewer objects":              {gittest.MakePack(2, gittest.Bytes(gittest.PackBlob, blob)), errMalformed},
		"more objects":               {gittest.MakePack(1001), errObjectCount},
		"type 5":                     {gittest.MakePack(1, gittest.Bytes(5, blob)), errMalformed},
		"type 0":                     {gittest.MakePack(1, gittest.Bytes(0, blob)), errMalformed},
		"declares less":              {sized(gittest.PackBlob, 10, 11), errMalformed},
		"declares more":              {sized(gittest.PackBlob, 11, 10), errMalformed},
		"declares ten, has a lot":    {sized(gittest.PackBlob, 10, 1<<24), errMalformed},
		"object too large":           {sized(gittest.PackBlob, 1<<20+1, 10), errObjectSize},
		"size beyond 64 bits":        {append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\xbf"), bytes.Repeat([]byte{0xff}, 30)...), errMalformed},
		"delta too large":            {sized(gittest.PackOfsDelta, 1<<20+1, 10), errObjectSize},
		"delta makes too much":       {delta(append([]byte{10}, 0xff, 0xff, 0xff, 0xff, 0x0f)), errObjectSize},
		"delta of itself":            {gittest.MakePack(1, self), errMalformed},
		"delta of what is not there": {gittest.MakePack(1, far), errMalformed},
		"thin":                       {gittest.MakePack(1, gittest.PackEntry{Type: gittest.PackRefDelta, Base: name, Data: bytes.NewReader(gittest.Delta(10, nil)), Size: int64(len(gittest.Delta(10, nil)))}), errMalformed},
		"delta without header":       {delta(nil), errMalformed},
		"delta for another size":     {delta(gittest.Delta(9, nil)), errMalformed},
		"delta with opcode 0":        {delta([]byte{10, 1, 0}), errMalformed},
		"delta past its base":        {delta([]byte{10, 5, 0x91, 8, 5}), errMalformed},
		"delta makes less":           {delta([]byte{10, 5, 0x90, 4}), errMalformed},
		"delta makes more":           {delta([]byte{10, 5, 0x90, 6}), errMalformed},
		"delta cut off":              {delta([]byte{10, 5, 5, 'a'}), errMalformed},
		"delta cut off in a copy":    {delta([]byte{10, 5, 0xff}), errMalformed},
	}
}

func TestUnpackRefusesBadPacks(t *testing.T) {
	t.Parallel()
	for name, tc := range packs() {
		if _, _, err := unpackBytes(t, tc.pack, roomy); !errors.Is(err, tc.want) || tc.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

func TestUnpackStopsAtTheTotal(t *testing.T) {
	t.Parallel()
	entries := make([]gittest.PackEntry, 20)
	for i := range entries {
		entries[i] = gittest.PackEntry{Type: gittest.PackBlob, Data: gittest.Zeros(1 << 20), Size: 1 << 20}
	}
	_, h, err := unpackBytes(t, gittest.MakePack(20, entries...), roomy)
	if !errors.Is(err, errUnpacked) || h.size() > roomy.total {
		t.Errorf("%v after %d bytes", err, h.size())
	}
}

func TestUnpackReturnsTheErrorOfTheReader(t *testing.T) {
	t.Parallel()
	h, err := newHeap(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.close() }()
	_, err = unpack(context.Background(), io.MultiReader(strings.NewReader("PACK"), failing{}), h, roomy, func() {})
	if !errors.Is(err, errIdle) || errors.Is(err, errMalformed) {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errIdle }

func FuzzUnpack(f *testing.F) {
	for _, tc := range packs() {
		if len(tc.pack) < 1<<12 {
			f.Add(tc.pack)
		}
	}
	limits := packLimits{object: 1 << 14, total: 1 << 16, count: 100}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, pack []byte) {
		objs, h, err := unpackIn(t, dir, pack, limits)
		if h.size() > limits.total {
			t.Fatalf("%d bytes unpacked", h.size())
		}
		if err != nil {
			return
		}
		for hash, i := range objs.byHash {
			e := objs.entries[i]
			data, err := objs.read(e, e.size)
			if err != nil || plumbing.ComputeHash(e.typ, data) != hash {
				t.Fatalf("%s is not what its name says: %v", hash, err)
			}
		}
	})
}

// FuzzDelta lets the fuzzer write instructions without having to compress them.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("0123456789"), gittest.Delta(10, []byte("abc")))
	f.Add([]byte("0123456789"), []byte{10, 5, 0x91, 8, 5})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		e := gittest.Bytes(gittest.PackRefDelta, delta)
		e.Base = gittest.Name("blob", int64(len(base)), bytes.NewReader(base))
		pack := gittest.MakePack(2, e, gittest.Bytes(gittest.PackBlob, base))
		objs, h, err := unpackIn(t, dir, pack, packLimits{object: 1 << 14, total: 1 << 16, count: 2})
		if h.size() > 1<<16 {
			t.Fatalf("%d bytes unpacked", h.size())
		}
		if err == nil && (len(objs.entries) != 2 || objs.entries[0].size != objs.entries[0].result) {
			t.Fatalf("%+v", objs.entries)
		}
	})
}
