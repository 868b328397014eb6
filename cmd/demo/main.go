// Command demo runs the main job for a newcomer: it starts the server with a
// data folder of its own, indexes a folder with live progress, and asks about
// it through the MCP bridge, as Claude Desktop or any other client would.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const readyLine = "CodeSage is ready at "

func main() {
	binary := flag.String("binary", "bin/codesage", "the codesage program")
	data := flag.String("data", ".cache/demo", "data folder of the demo's server")
	folder := flag.String("folder", ".", "folder to index")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx, *binary, *data, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func demo(ctx context.Context, binary, data, folder string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if data, err = filepath.Abs(data); err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	session := "demo"

	step("Start the server: codesage serve")
	url, stop, err := serve(ctx, binary, data)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println("It answers at", url)

	step("Index a folder: codesage add " + folder)
	env := append(clean(os.Environ()), "MCP_SERVER_URL="+url, "CODESAGE_DATA_DIR="+data)
	add := exec.CommandContext(ctx, binary, "add", folder, "--session", session)
	add.Env, add.Stdout, add.Stderr = env, os.Stdout, os.Stderr
	if err := add.Run(); err != nil {
		return fmt.Errorf("index %s: %w", folder, err)
	}

	step("Ask about it over MCP: codesage bridge")
	if err := ask(ctx, binary, env, session); err != nil {
		return err
	}

	step("Connect your own client")
	fmt.Printf(`1. make start
2. %s add /path/to/your/project
3. Add this to your MCP client's configuration (for Claude Desktop:
   claude_desktop_config.json):

   {
     "mcpServers": {
       "codesage": {
         "command": %q,
         "args": ["bridge"]
       }
     }
   }
`, binary, binary)
	return nil
}

// serve starts the server and waits until it says where it answers.
func serve(ctx context.Context, binary, data string) (url string, stop func(), err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", nil, err
	}
	log, err := os.Create(filepath.Join(data, "server.log"))
	if err != nil {
		return "", nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, binary, "serve")
	cmd.Dir = data // no .env of the current folder is read
	cmd.Env = append(clean(os.Environ()), "CODESAGE_PORT=0", "CODESAGE_DATA_DIR="+data)
	cmd.Stderr = log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start the server: %w", err)
	}
	stop = func() {
		_ = cmd.Cancel()
		_ = cmd.Wait()
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), readyLine); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return strings.Fields(rest)[0], stop, nil
		}
	}
	stop()
	text, _ := os.ReadFile(log.Name())
	return "", nil, errors.New("the server did not start:\n" + string(text))
}

// clean removes the settings of any other server from an environment.
func clean(env []string) []string {
	var kept []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case strings.HasPrefix(name, "CODESAGE_"), name == "MCP_SERVER_URL", name == "DATABASE_URL", name == "REDIS_URL", name == "SEARCH_ENGINE":
		default:
			kept = append(kept, e)
		}
	}
	return kept
}

func step(title string) { fmt.Printf("\n== %s\n", title) }
