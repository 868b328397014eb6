package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/api/client"
	"codesage/bridge"
	"codesage/config"
)

// maxKeyFile bounds what is read of a key file.
const maxKeyFile = 4096

// address is how the bridge and the command line reach a server.
type address struct {
	url, key, keyFile string
	user, password    string
	insecure          bool
}

// readAddress reads it from the environment. A loopback server's key that the
// environment lacks comes from the file that the server left in its data
// folder.
func readAddress(getenv func(string) string) address {
	get := func(name string) string { return strings.TrimSpace(getenv(name)) }
	a := address{
		url:      get("MCP_SERVER_URL"),
		key:      get("CODESAGE_API_KEY"),
		user:     get("CODESAGE_BASIC_AUTH_USER"),
		password: getenv("CODESAGE_BASIC_AUTH_PASSWORD"),
		insecure: get("CODESAGE_ALLOW_INSECURE_AUTH") == "1",
	}
	if a.url == "" {
		a.url = bridge.DefaultURL
	}
	if a.user != "" && a.password == "" {
		a.password = keychainPassword(a.user)
	}
	u, err := url.Parse(a.url)
	if err != nil || !client.Loopback(u.Hostname()) {
		return a
	}
	if dir := config.DataDir(getenv); dir != "" {
		a.keyFile = keyFile(dir)
		if a.key == "" {
			a.key = readKeyFile(a.keyFile)
		}
	}
	return a
}

// readKeyFile returns the key in a file, or empty when it can't be read.
func readKeyFile(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxKeyFile {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// dial returns a client of the server that the environment names.
func dial(t terminal) (*client.Client, error) { return readAddress(t.getenv).dial() }

// dial returns a client of the server of this address.
func (a address) dial() (*client.Client, error) {
	return client.New(client.Config{
		BaseURL:       a.url,
		Key:           a.key,
		BasicUser:     a.user,
		BasicPassword: a.password,
		AllowInsecure: a.insecure,
	})
}

// asking returns a command's work: it dials the server, runs fn and words its
// failures.
func asking(t terminal, fn func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := dial(t)
		if err != nil {
			return err
		}
		defer c.Close()
		return explain(c, fn(cmd.Context(), c, args))
	}
}

// askingAbout is asking for the commands whose argument names a repository.
func askingAbout(t terminal, fn func(ctx context.Context, c *client.Client, repo client.Repository) error) func(*cobra.Command, []string) error {
	return asking(t, func(ctx context.Context, c *client.Client, args []string) error {
		repo, err := find(ctx, c, args[0])
		if err != nil {
			return err
		}
		return fn(ctx, c, repo)
	})
}

// oneRepository checks the argument of such a command.
var oneRepository = arguments(1, "the name, session or id of one repository")

// explain words a failure to ask the server for people.
func explain(c *client.Client, err error) error {
	var status *client.StatusError
	var unreachable *client.UnreachableError
	var transport *client.TransportError
	switch {
	case errors.As(err, &status) && status.Status == 401:
		return fmt.Errorf("the server at %s refuses the key, or wants one; set CODESAGE_API_KEY to its key", c.URL())
	case errors.As(err, &status) && status.Status == 422:
		return errors.New(faults(status))
	case errors.As(err, &status):
		return errors.New(status.Error())
	case errors.As(err, &unreachable) && unreachable.Loopback:
		return fmt.Errorf("no server answers at %s; start one with `codesage serve`, or set MCP_SERVER_URL", c.URL())
	case errors.As(err, &unreachable):
		return fmt.Errorf("no server answers at %s: %w; check MCP_SERVER_URL and that the host is up", c.URL(), unreachable.Err)
	case errors.As(err, &transport):
		return fmt.Errorf("the connection to the server at %s failed: %w; see whether it runs, and check MCP_SERVER_URL", c.URL(), transport.Err)
	}
	return err
}

// faults words what the server found wrong with a request: its list of faults
// as `field: reason`. What broke a rule of a value as a whole says so by itself.
func faults(e *client.StatusError) string {
	var list []struct {
		Type string `json:"type"`
		Loc  []any  `json:"loc"`
		Msg  string `json:"msg"`
	}
	if json.Unmarshal([]byte(e.Detail), &list) != nil || len(list) == 0 {
		return e.Error()
	}
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = strings.TrimPrefix(f.Msg, "Value error, ")
		if f.Type != "value_error" && len(f.Loc) > 0 {
			texts[i] = fmt.Sprintf("%v: %s", f.Loc[len(f.Loc)-1], f.Msg)
		}
	}
	return strings.Join(texts, "; ")
}

// find returns the repository of an id, a name or a session id.
func find(ctx context.Context, c *client.Client, name string) (client.Repository, error) {
	all, err := c.Repositories(ctx)
	if err != nil {
		return client.Repository{}, err
	}
	id, notNumber := strconv.ParseInt(name, 10, 64)
	i := slices.IndexFunc(all, func(r client.Repository) bool { return notNumber == nil && int64(r.ID) == id })
	if i < 0 {
		i = slices.IndexFunc(all, func(r client.Repository) bool {
			return strings.EqualFold(r.Name, name) || r.Session == name || r.URL != "" && strings.EqualFold(r.URL, name)
		})
	}
	if i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.Name
	}
	if len(names) == 0 {
		return client.Repository{}, codesage.Errorf(codesage.KindNotFound, "no repository %q; none is indexed yet", name)
	}
	return client.Repository{}, codesage.Errorf(codesage.KindNotFound, "no repository %q; there are: %s", name, strings.Join(names, ", "))
}
