package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"codesage"
	"codesage/api/client"
)

const readyLine = "CodeSage is ready at "

// serve starts a server without rate limits on a data folder of its own, and
// indexes a folder.
func serve(ctx context.Context, binary, folder string) (address string, end func(), err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return "", nil, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", nil, err
	}
	data, err := os.MkdirTemp("", "codesage-load-")
	if err != nil {
		return "", nil, err
	}
	address, stop, err := start(ctx, binary, data)
	end = func() {
		if stop != nil {
			stop()
		}
		_ = os.RemoveAll(data)
	}
	if err == nil {
		fmt.Println("indexing", folder)
		err = index(ctx, address, folder)
	}
	if err != nil {
		end()
		return "", nil, err
	}
	return address, end, nil
}

// start starts the server and waits until it says where it answers.
func start(ctx context.Context, binary, data string) (address string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, binary, "serve")
	cmd.Dir = data // no .env of the current folder is read
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + data, "CODESAGE_PORT=0", "CODESAGE_DATA_DIR=" + data,
		"ENABLE_RATE_LIMITING=false", "FOLDER_WATCH=false", "LOG_LEVEL=warn",
	}
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
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
	return "", stop, errors.New("the server did not start")
}

// index indexes a folder and waits for the end.
func index(ctx context.Context, address, folder string) error {
	c, err := client.New(client.Config{BaseURL: address})
	if err != nil {
		return err
	}
	defer c.Close()
	repo, err := c.AddFolder(ctx, client.Folder{Path: folder, Session: "load", Refresh: true})
	if err != nil {
		return fmt.Errorf("add %s: %w", folder, err)
	}
	for event, err := range c.Events(ctx, repo.ID) {
		switch {
		case err != nil:
			return fmt.Errorf("follow the run: %w", err)
		case event.Repository.Status == codesage.StatusCompleted:
			return nil
		case event.Repository.Status == codesage.StatusFailed:
			return fmt.Errorf("index %s: %s", folder, event.Repository.ErrorMessage)
		}
	}
	return errors.New("the server went away")
}
