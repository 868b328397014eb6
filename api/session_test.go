package api

import (
	"strings"
	"testing"
	"time"
)

// A token holds for every process with the same keys, until a key changes.
func TestSessionTokens(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	with := func(key, readKey string) *sessions { return newSessions(Access{Key: key, ReadKey: readKey}, c.Now) }
	here := with("key", "read")
	write, read := here.issue(MayWrite), here.issue(MayRead)
	if again := here.issue(MayWrite); again == write {
		t.Error("two log-ins have the same token")
	}
	for _, tc := range []struct {
		name                string
		s                   *sessions
		wantWrite, wantRead Permission
	}{
		{"here", here, MayWrite, MayRead},
		{"another process", with("key", "read"), MayWrite, MayRead},
		{"another key", with("key2", "read"), MayNothing, MayRead},
		{"another read key", with("key", "read2"), MayWrite, MayNothing},
		{"no read key any more", with("key", ""), MayWrite, MayNothing},
		{"no key any more", with("", ""), MayNothing, MayNothing},
		{"keys exchanged", with("read", "key"), MayNothing, MayNothing},
	} {
		if w, r := tc.s.check(write), tc.s.check(read); w != tc.wantWrite || r != tc.wantRead {
			t.Errorf("%s: write token %d, read token %d", tc.name, w, r)
		}
	}
	for i := range len(read) - 1 { // the last letter has bits that count for nothing
		for _, ch := range []byte("Az-") {
			changed := []byte(read)
			if changed[i] == ch {
				continue
			}
			changed[i] = ch
			if got := here.check(string(changed)); got != MayNothing {
				t.Fatalf("letter %d changed to %c: %d", i, ch, got)
			}
		}
	}
	for _, bad := range []string{"", "x", read + read, write[:len(write)-2], strings.Repeat("A", len(read)), "key", "\x00"} {
		if got := here.check(bad); got != MayNothing {
			t.Errorf("%q: %d", bad, got)
		}
	}
	c.forward(sessionTime - time.Second)
	if got := here.check(write); got != MayWrite {
		t.Errorf("before its end: %d", got)
	}
	c.forward(time.Second)
	if got := here.check(write); got != MayNothing {
		t.Errorf("after its end: %d", got)
	}
}
