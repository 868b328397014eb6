// Command load asks a server of this machine with many clients at once, with a
// mix of tool calls, and prints how long the answers took and what went wrong.
// Without -url it starts a server of its own and indexes a folder first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"codesage/api/client"
)

// options are what the command line says.
type options struct {
	url, key       string
	binary, folder string
	clients        int
	length         time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "", "a running server, on a loopback address; empty starts one")
	flag.StringVar(&o.key, "key", os.Getenv("CODESAGE_API_KEY"), "its key")
	flag.StringVar(&o.binary, "binary", "bin/codesage", "the program to start when there is no -url")
	flag.StringVar(&o.folder, "folder", ".", "the folder that is indexed then")
	flag.IntVar(&o.clients, "clients", 200, "clients at the same time")
	flag.DurationVar(&o.length, "time", time.Minute, "how long they ask")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.url == "" {
		address, end, err := serve(ctx, o.binary, o.folder)
		if err != nil {
			return err
		}
		defer end()
		o.url = address
	}
	if err := checkLoopback(o.url); err != nil {
		return err
	}
	questions, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("%d clients ask %s for %s\n", o.clients, o.url, o.length)
	began := time.Now()
	results, err := ask(ctx, o, questions)
	if err != nil {
		return err
	}
	if results.print(os.Stdout, time.Since(began)) > 0 {
		return errors.New("some calls went wrong")
	}
	return nil
}

// checkLoopback refuses other machines: this is no tool to strain a server of
// somebody else's.
func checkLoopback(address string) error {
	u, err := url.Parse(address)
	if err != nil || !client.Loopback(u.Hostname()) {
		return fmt.Errorf("-url %s: must be a loopback address", address)
	}
	return nil
}
