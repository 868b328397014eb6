package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"codesage"
	"codesage/api/client"
)

// TestScripts plays the stories of testdata/script. Beside the usual commands
// they have:
//
//	serve [NAME=value …]   start a server on $WORK/data, for the commands after it
//	shutdown               end it by SIGTERM; it must end without fault and in time
//	crash                  end it by SIGKILL
//	tree <folder> <n>      make a tree of about n files
//	slow <folder>          put a file there that a parser does not finish in its time
//	until <name> <status>  wait until a repository has a status
//	midrun <name>          wait until its run has found symbols
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			p := &play{t: t}
			testscript.Run(t, testscript.Params{
				Files: []string{script},
				Setup: p.setup,
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"serve": p.serve, "shutdown": p.shutdown, "crash": p.crash, "tree": p.tree, "slow": p.slow, "until": p.until, "midrun": p.midrun,
				},
			})
		})
	}
}

// play is one story with its server.
type play struct {
	t      *testing.T
	server *server
}

// setup puts the program into the path as codesage.
func (p *play) setup(env *testscript.Env) error {
	bin := filepath.Join(env.WorkDir, ".bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	for _, e := range environ(env.WorkDir) {
		name, value, _ := strings.Cut(e, "=")
		env.Setenv(name, value)
	}
	env.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return os.Symlink(program(p.t), filepath.Join(bin, "codesage"))
}

func (p *play) serve(ts *testscript.TestScript, _ bool, args []string) {
	p.server = serverAt(p.t, ts.MkAbs("data"), args...)
	ts.Setenv("MCP_SERVER_URL", p.server.url)
}

func (p *play) shutdown(*testscript.TestScript, bool, []string) { p.server.stop() }

func (p *play) crash(*testscript.TestScript, bool, []string) { p.server.kill() }

func (p *play) tree(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	folder := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(folder, 0o755))
	newTree(21, n, 1).write(p.t, folder)
}

func (p *play) slow(ts *testscript.TestScript, _ bool, args []string) {
	writeFiles(p.t, ts.MkAbs(args[0]), map[string]string{"slow.sh": slowScript})
}

func (p *play) until(_ *testscript.TestScript, _ bool, args []string) {
	p.server.eventually(args[0]+" is "+args[1], func() bool { return p.find(args[0]).Status == codesage.Status(args[1]) })
}

func (p *play) midrun(_ *testscript.TestScript, _ bool, args []string) {
	p.server.eventually(args[0]+" is in the middle of its run", func() bool {
		repo := p.find(args[0])
		return repo.Status == codesage.StatusProcessing && repo.TotalEntities > 0
	})
}

// find returns a repository, or an empty one while there is none.
func (p *play) find(name string) client.Repository {
	repo, _ := find(context.Background(), p.server.api, name)
	return repo
}
