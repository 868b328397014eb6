package parse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
)

func newPool(t *testing.T, config Config) *Pool {
	t.Helper()
	config.Log = slog.New(slog.DiscardHandler)
	p := NewPool(config)
	t.Cleanup(p.Close)
	return p
}

func parse(t *testing.T, p *Pool, language, path, text string) Result {
	t.Helper()
	r, err := p.Parse(t.Context(), language, path, []byte(text))
	if err != nil {
		t.Fatalf("parse %s: %v", path, err)
	}
	return r
}

func names(r Result) string {
	var names []string
	for _, e := range r.Entities {
		names = append(names, fmt.Sprintf("%s:%d-%d", e.Name, e.LineStart, e.LineEnd))
	}
	return strings.Join(names, " ")
}

func TestLinesAndBytesAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	for _, tc := range []struct{ name, language, path, text, want string }{
		{"only LF ends a line", "python", "p.py", "a = \"\x0c\"\nb = \"\u2028\"\ndef third(): pass\n", "third:3-3"},
		{"CRLF", "go", "w.go", "package w\r\n\r\nfunc Four() {\r\n}\r\n", "Four:3-4"},
		{"CR ends no line", "python", "r.py", "def a(): pass\rx = 1\n\ndef b(): pass\n", "a:1-1 b:3-3"},
		{"byte-order mark", "python", "m.py", "\uFEFFdef alpha():\n    return 1\n", "alpha:1-2"},
		{"byte-order mark in Go", "go", "m.go", "\uFEFFpackage m\nfunc Beta() {}\n", "Beta:2-2"},
		{"byte-order mark in Markdown", "markdown", "m.md", "\uFEFF# Gamma\n", "Gamma:1-1"},
		{"no LF at the end", "typescript", "e.ts", "const a = 1\nexport default function cfg() { return a }", "cfg:2-2"},
		{"one line", "python", "one.py", "def only(): pass", "only:1-1"},
		{"same name twice", "python", "dup.py", "class A:\n    def run(self): return 1\nclass B:\n    def run(self): return 2\ndef run(): return 3\n", "A:1-2 run:2-2 B:3-4 run:4-4 run:5-5"},
		{"syntax error", "go", "x.go", "package x\nfunc A() {}\nvar = = 3\nfunc B() {}\n", "A:2-2 B:4-4"},
		{"invalid UTF-8", "go", "u.go", "package u\n// \xff\xfe\nfunc A() {} // \xff\n", "A:3-3"},
		{"NUL", "python", "n.py", "def a(): pass\n\x00\ndef b(): pass\n", "a:1-1 b:3-3"},
		{"empty", "go", "z.go", "", ""},
		{"unsupported", "yaml", "a.yaml", "a: 1\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := parse(t, p, tc.language, tc.path, tc.text)
			if got := names(r); got != tc.want || r.Skip != "" {
				t.Errorf("got %q %q, want %q", got, r.Skip, tc.want)
			}
			for _, e := range r.Entities {
				if strings.ContainsAny(e.Name+e.Signature+e.Description, "\uFEFF\r\n") {
					t.Errorf("%q %q %q hold a mark or a line end", e.Name, e.Signature, e.Description)
				}
				if body := tc.text[e.StartByte:e.EndByte]; strings.TrimSpace(body) != body {
					t.Errorf("%q begins or ends with white space", body)
				}
			}
		})
	}
}

func TestAllOfManyDefinitionsAreFound(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	var b strings.Builder
	b.WriteString("package big\n")
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&b, "func F%d() {}\n", i)
	}
	r := parse(t, p, "go", "big.go", b.String())
	if len(r.Entities) != 5000 || r.Truncated {
		t.Fatalf("got %d, truncated %v", len(r.Entities), r.Truncated)
	}
	for _, e := range []codesage.Entity{r.Entities[4096], r.Entities[4999]} {
		if want := "F" + strconv.Itoa(e.LineStart-1); e.Name != want {
			t.Errorf("line %d: got %s, want %s", e.LineStart, e.Name, want)
		}
	}
	for i := range 60_000 {
		fmt.Fprintf(&b, "func G%d(){}\n", i)
	}
	r = parse(t, p, "go", "huge.go", b.String())
	if r.Skip == "" && (len(r.Entities) != MaxEntities || !r.Truncated) {
		t.Errorf("got %d entities, truncated %v", len(r.Entities), r.Truncated)
	}
}

// TestHostileFilesCostThemselvesOnly feeds inputs that crash, hang or exhaust a
// grammar, and wants each named and the next file parsed.
func TestHostileFilesCostThemselvesOnly(t *testing.T) {
	t.Parallel()
	hasty, patient := newPool(t, Config{Processes: 2, Timeout: 2 * time.Second}), newPool(t, Config{Processes: 2, Timeout: 30 * time.Second})
	deep := func(s string) string { return strings.Repeat(s, 100_000) }
	timeout, crash, size := codesage.SkipParseTimeout, codesage.SkipParserCrash, codesage.SkipParseSize
	for _, tc := range []struct {
		name, language, text string
		want                 []codesage.SkipReason
	}{
		{"nested quotes", "markdown", strings.Repeat(strings.Repeat("> ", 260)+"x\n", 100), []codesage.SkipReason{""}},
		{"nested lists", "markdown", strings.Repeat("- ", 10_000), []codesage.SkipReason{""}},
		{"nested interpolation", "kotlin", "val s = " + strings.Repeat(`"${`, 3_000), []codesage.SkipReason{crash}},
		{"heredocs", "bash", strings.Repeat("<<A ", 40_000), []codesage.SkipReason{timeout}},
		{"open quotes", "lua", busy, []codesage.SkipReason{timeout}},
		{"brackets", "javascript", deep("(") + "1" + deep(")") + ";\n", []codesage.SkipReason{"", timeout, size}},
		{"open brackets", "rust", deep("("), []codesage.SkipReason{"", timeout, size}},
		{"functions", "javascript", strings.Repeat("function f(){", 70_000), []codesage.SkipReason{"", timeout, size}},
		{"templates", "cpp", deep("<A "), []codesage.SkipReason{timeout, size}},
		{"a token a byte", "javascript", strings.Repeat("[", MaxFileBytes), []codesage.SkipReason{size, timeout}},
		{"too large", "javascript", strings.Repeat(" ", MaxFileBytes+1), []codesage.SkipReason{size}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := patient
			if slices.Contains(tc.want, timeout) {
				p = hasty
			}
			begin := time.Now()
			r := parse(t, p, tc.language, "n", tc.text)
			t.Logf("%q, %d entities, %v", r.Skip, len(r.Entities), time.Since(begin).Round(time.Millisecond))
			if !slices.Contains(tc.want, r.Skip) {
				t.Errorf("got %q, want one of %q", r.Skip, tc.want)
			}
			if r = parse(t, p, "go", "fine.go", "package p\nfunc Fine() {}\n"); names(r) != "Fine:2-2" {
				t.Errorf("then got %q %q", names(r), r.Skip)
			}
		})
	}
}

// busy is a text that takes a while: one long parse without an end in sight.
var busy = strings.Repeat("'", 90_000)

func TestKilledProcessIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1, Timeout: 3 * time.Second})
	c, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.put(c)
	done := make(chan Result)
	go func() { done <- parse(t, p, "lua", "busy.lua", busy) }()
	waitFor(t, func() bool { return p.idleCount() == 0 })
	c.kill()
	if r := <-done; r.Skip != codesage.SkipParseTimeout { // the fresh process has the file and is late
		t.Errorf("got %q", r.Skip)
	}
	if p.Restarts() < 1 {
		t.Errorf("got %d restarts", p.Restarts())
	}
	if r := parse(t, p, "go", "a.go", "package a\nfunc F() {}\n"); names(r) != "F:2-2" {
		t.Errorf("then got %q", names(r))
	}
}

func (p *Pool) idleCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

func TestIdleProcessThatDiedIsNoticed(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	for range 3 {
		if r := parse(t, p, "go", "a.go", "package a\nfunc F() {}\n"); names(r) != "F:2-2" {
			t.Fatalf("got %q %q", names(r), r.Skip)
		}
		p.mu.Lock()
		p.idle[0].kill()
		p.mu.Unlock()
	}
}

func TestWornProcessIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	parse(t, p, "go", "a.go", "package a\n")
	p.mu.Lock()
	p.idle[0].files = recycleFiles
	p.mu.Unlock()
	for _, left := range []int{0, 1} {
		if r := parse(t, p, "go", "a.go", "package a\nfunc F() {}\n"); names(r) != "F:2-2" {
			t.Fatalf("got %q %q", names(r), r.Skip)
		}
		if got := p.idleCount(); got != left {
			t.Errorf("got %d processes, want %d", got, left)
		}
	}
	if p.Restarts() != 0 {
		t.Errorf("got %d restarts", p.Restarts())
	}
}

func TestCancelledCallReturnsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1, Timeout: 30 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	begin := time.Now()
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := p.Parse(ctx, "lua", "busy.lua", []byte(busy)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if r := parse(t, p, "go", "a.go", "package a\nfunc F() {}\n"); names(r) != "F:2-2" {
		t.Errorf("then got %q", names(r))
	}
}

func TestCallersShareTheProcesses(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 2})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("F%d_%d", g, i)
				r, err := p.Parse(t.Context(), "go", "a.go", []byte("package a\nfunc "+name+"() {}\n"))
				if err != nil || names(r) != name+":2-2" {
					t.Errorf("got %q %q, %v", names(r), r.Skip, err)
				}
			}
		})
	}
	wg.Wait()
	if n := p.idleCount(); n < 1 || n > 2 {
		t.Errorf("got %d processes", n)
	}
	if p.Restarts() != 0 {
		t.Errorf("got %d restarts", p.Restarts())
	}
}

func TestClosedPoolLeavesNothingBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	p := newPool(t, Config{Processes: 2})
	done := make(chan error)
	before := runtime.NumGoroutine()
	for range 2 {
		go func() {
			_, err := p.Parse(context.Background(), "lua", "busy.lua", []byte(busy))
			done <- err
		}()
	}
	waitFor(t, func() bool { return len(p.seats) == 2 && len(children(os.Getpid())) > 0 })
	p.Close()
	for range 2 {
		if err := <-done; !errors.Is(err, codesage.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := p.Parse(t.Context(), "go", "a.go", []byte("package a")); !errors.Is(err, codesage.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before })
	if left := children(os.Getpid()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// children returns the ids of a process's children, where /proc tells.
func children(parent int) []int {
	var out []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		b, _ := os.ReadFile(stat)
		if i := strings.LastIndexByte(string(b), ')'); i > 0 {
			if f := strings.Fields(string(b[i+1:])); len(f) > 1 && f[0] != "Z" && f[1] == strconv.Itoa(parent) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
				out = append(out, pid)
			}
		}
	}
	return out
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	late := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the condition never held")
		}
	}
}

func TestKilledParentLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a busy process with its parent")
	}
	parent := exec.CommandContext(t.Context(), os.Args[0], "parse-parent")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var orphans []int
	waitFor(t, func() bool { orphans = children(parent.Process.Pid); return len(orphans) > 0 })
	_ = parent.Process.Kill()
	_ = parent.Wait()
	waitFor(t, func() bool {
		for _, pid := range orphans {
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil && !strings.Contains(string(status), "State:\tZ") {
				return false
			}
		}
		return true
	})
}

func TestAnotherProgramIsRefused(t *testing.T) {
	t.Parallel()
	for _, argv := range [][]string{{"/bin/echo", "hello"}, {"/bin/true"}, {filepath.Join(t.TempDir(), "missing")}} {
		p := newPool(t, Config{Processes: 1, Command: argv})
		if r, err := p.Parse(t.Context(), "go", "a.go", []byte("package a")); err == nil {
			t.Errorf("%v: got %+v", argv, r)
		}
	}
}

func TestProcessStaysBelow200MB(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	p := newPool(t, Config{Processes: 1, Timeout: 5 * time.Minute}) // the bound is one of memory
	line := "a=[1,2,{b:c}];function f(x){return x+1}"
	for i := range 3 {
		r := parse(t, p, "javascript", "min.js", strings.Repeat(line, MaxFileBytes/len(line)))
		if r.Skip != "" || len(r.Entities) != MaxFileBytes/len(line) {
			t.Fatalf("got %d entities, %q", len(r.Entities), r.Skip)
		}
		p.mu.Lock()
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.idle[0].cmd.Process.Pid))
		resident := p.idle[0].resident
		p.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		kilobytes, _ := strconv.Atoi(strings.Fields(peak)[0])
		t.Logf("file %d: peak %d MB, then %d MB", i, kilobytes>>10, resident>>20)
		if kilobytes > 200<<10 {
			t.Errorf("file %d: the process took %d kB", i, kilobytes)
		}
	}
}
