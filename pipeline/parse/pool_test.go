package parse

import (
	"strings"
	"testing"
	"time"

	"codesage"
)

func newPool(t *testing.T, config Config) *Pool {
	t.Helper()
	p := NewPool(config)
	t.Cleanup(p.Close)
	return p
}

func TestPoolFindsEntitiesOfEachLanguage(t *testing.T) {
	p := newPool(t, Config{Processes: 1})
	r, err := p.Parse(t.Context(), "go", "a.go", []byte("package a\nfunc F() {}\n"))
	if err != nil || len(r.Entities) != 1 || r.Entities[0].Name != "F" {
		t.Fatalf("got %+v, %v", r, err)
	}
}

func TestPoolStaysWithinMemory(t *testing.T) {
	p := newPool(t, Config{Processes: 1, Timeout: 20 * time.Second})
	line := "a=[1,2,{b:c}];function f(x){return x+1}"
	for range 3 {
		text := strings.Repeat(line, MaxFileBytes/len(line))
		begin := time.Now()
		r, err := p.Parse(t.Context(), "javascript", "a.js", []byte(text))
		if err != nil || r.Skip != "" {
			t.Fatalf("got %v, %v", r.Skip, err)
		}
		t.Log(len(r.Entities), r.Truncated, time.Since(begin), p.Restarts())
	}
	_ = codesage.SkipParseSize
}
