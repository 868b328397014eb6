// Package bridge serves MCP over stdio by asking the API over HTTP. It lists
// tools and checks arguments by itself, so both work while the API is away, and
// it words every failure so that the reader knows what to mend (failures.go).
package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"codesage/api/client"
	"codesage/mcp"
	"codesage/tools"
	"codesage/trace"
)

// Config is the bridge's configuration. Reading the environment, the key file
// and the Keychain is the caller's.
type Config struct {
	ServerURL     string // MCP_SERVER_URL; empty = http://127.0.0.1:8001
	Key           string // CODESAGE_API_KEY, or the key of the key file
	KeyFile       string // where a local server's key would be; named when there is none
	BasicUser     string
	BasicPassword string
	AllowInsecure bool // CODESAGE_ALLOW_INSECURE_AUTH

	Toolset      string       // CODESAGE_TOOLSET; empty = repositories
	Repositories []tools.Spec // the specs of tools/repositories
	Sessions     []tools.Spec // the specs of tools/sessions

	Name     string     // shown to clients; empty = codesage
	Version  string     // shown to clients
	LogLevel slog.Level // CODESAGE_MCP_LOG_LEVEL

	Tracer *trace.Tracer // makes each call a span that the server's hangs from; nil = none

	// Timeouts; 0 = 5 s to connect, 30 s for a request, 300 s for a slow tool.
	ConnectTimeout, Timeout, SlowTimeout time.Duration
}

// DefaultURL is where a local server listens.
const DefaultURL = "http://127.0.0.1:8001"

// Run answers messages from stdin on stdout until stdin ends or ctx is done.
// stdout gets nothing but JSON-RPC, stderr the log. A server that can't be
// reached is no error of Run: the calls say so.
func Run(ctx context.Context, c Config, stdin io.Reader, stdout, stderr io.Writer) error {
	if c.ServerURL == "" {
		c.ServerURL = DefaultURL
	}
	if c.Name == "" {
		c.Name = "codesage"
	}
	if c.Toolset == "" {
		c.Toolset = mcp.ToolsetRepositories
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: c.LogLevel}))
	f, err := newForwarder(c, log)
	if err != nil {
		return err
	}
	if f.client != nil {
		defer f.client.Close()
	}
	log.Info("bridge started", "server", client.Redact(c.ServerURL), "key", c.Key != "", "login", c.BasicUser != "",
		"toolset", c.Toolset, "tools", len(f.served))
	server := mcp.New(mcp.Config{Name: c.Name, Version: c.Version, Backend: f, Log: log})
	err = server.ServeStdio(ctx, stdin, stdout)
	log.Info("bridge ended")
	if err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	return nil
}

// forwarder is the backend of the message layer: it asks the API.
type forwarder struct {
	toolset string
	served  []served
	client  *client.Client // nil = configured so that nothing can be sent, for this reason:
	refused error
	words   words
	log     *slog.Logger
	tracer  *trace.Tracer
}

// served is a tool that the bridge serves.
type served struct {
	tools.Spec
	session bool
}

func newForwarder(c Config, log *slog.Logger) (*forwarder, error) {
	f := &forwarder{toolset: c.Toolset, log: log, tracer: c.Tracer, words: words{hasKey: c.Key != "", keyFile: c.KeyFile}}
	add := func(specs []tools.Spec, session, all bool) {
		for _, s := range specs {
			if session && all {
				s = mcp.InAll(s)
			}
			f.served = append(f.served, served{s, session})
		}
	}
	switch c.Toolset {
	case mcp.ToolsetRepositories:
		add(c.Repositories, false, false)
	case mcp.ToolsetSessions:
		add(c.Sessions, true, false)
	case mcp.ToolsetAll:
		add(c.Repositories, false, true)
		add(c.Sessions, true, true)
	default:
		return nil, fmt.Errorf("CODESAGE_TOOLSET must be repositories, sessions or all (got %q)", c.Toolset)
	}
	f.client, f.refused = client.New(client.Config{
		BaseURL: c.ServerURL, Key: c.Key, BasicUser: c.BasicUser, BasicPassword: c.BasicPassword,
		AllowInsecure: c.AllowInsecure, ConnectTimeout: c.ConnectTimeout, Timeout: c.Timeout, SlowTimeout: c.SlowTimeout,
	})
	if f.refused != nil {
		log.Error("calls will fail", "err", f.refused)
	}
	return f, nil
}

// Tools lists the toolset.
func (f *forwarder) Tools() []tools.Spec {
	specs := make([]tools.Spec, len(f.served))
	for i, t := range f.served {
		specs[i] = t.Spec
	}
	return specs
}

// Resources lists the resources.
func (f *forwarder) Resources() []mcp.Resource { return mcp.Resources }

// find returns the tool that a call names.
func (f *forwarder) find(name string) (served, bool) {
	wanted := name
	if real, ok := mcp.SessionAliases[name]; ok {
		wanted = real
	}
	for _, t := range f.served {
		if t.Name == wanted && (t.session || wanted == name) {
			return t, true
		}
	}
	return served{}, false
}

// Call checks the arguments and asks the API to run the tool.
func (f *forwarder) Call(ctx context.Context, name string, arguments json.RawMessage) (mcp.Result, error) {
	tool, ok := f.find(name)
	if !ok {
		return mcp.UnknownTool(f.toolset, name, f.Tools())
	}
	if _, faults := tool.Arguments.Parse(arguments); faults != nil {
		if tool.session {
			return mcp.Result{}, mcp.Errorf(mcp.CodeInvalidParams, "%s", mcp.SessionFault(faults[0]))
		}
		return mcp.Result{Failed: true, Text: tools.FaultText(name, faults)}, nil
	}
	if f.client == nil {
		return f.fail(ctx, tool, f.refused)
	}
	call := client.Call{Toolset: f.toolset, Tool: name, Arguments: withoutNulls(arguments), Slow: tool.Slow, Protocol: tools.Protocol(ctx)}
	if tool.Slow && mcp.WantsProgress(ctx) {
		call.Progress = func(done, total int, message string) { tools.ReportProgress(ctx, done, total, message) }
	}
	ctx = trace.WithOrigin(ctx, trace.Origin{Request: trace.NewRequestID()})
	answer, err := f.ask(ctx, call, tool.Name)
	if err != nil {
		return f.fail(ctx, tool, err)
	}
	return result(tool, answer)
}

// ask asks the API, logs it in one line and makes it a span. The id of the
// request in that line is the one in the server's log.
func (f *forwarder) ask(ctx context.Context, call client.Call, tool string) (client.Envelope, error) {
	began := time.Now()
	inner, span := f.tracer.Begin(ctx, "bridge "+tool)
	answer, err := f.client.CallTool(inner, call)
	span.End(err)
	trace.Log(ctx, f.log).Info("call", "tool", tool, "answered", err == nil, "ms", time.Since(began).Milliseconds())
	return answer, err
}

// result makes the client's answer of an envelope.
func result(tool served, e client.Envelope) (mcp.Result, error) {
	if e.IsError {
		if e.Error == "" {
			e.Error = "Tool failed"
		}
		if tool.session {
			if e.Code == 0 {
				e.Code = mcp.CodeInternal
			}
			return mcp.Result{}, mcp.Errorf(e.Code, "%s", e.Error)
		}
		return mcp.Result{Failed: true, Text: e.Error}, nil
	}
	if !tool.session {
		return mcp.Result{Text: tools.Render(e.Result)}, nil
	}
	var markdown struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(e.Result, &markdown) != nil || markdown.Text == nil {
		return mcp.Result{}, mcp.Errorf(mcp.CodeInternal, "%s", (&client.UnexpectedError{}).Error())
	}
	return mcp.Result{Text: *markdown.Text}, nil
}

// fail reports a failure to ask: as a tool error, or for a session tool as an
// internal JSON-RPC error.
func (f *forwarder) fail(ctx context.Context, tool served, err error) (mcp.Result, error) {
	text := f.words.of(tool.Name, err)
	if ctx.Err() == nil {
		trace.Log(ctx, f.log).Warn("call failed", "tool", tool.Name, "err", err)
	}
	if tool.session {
		return mcp.Result{}, mcp.Errorf(mcp.CodeInternal, "%s", text)
	}
	return mcp.Result{Failed: true, Text: text}, nil
}

// ReadResource asks the API for a resource.
func (f *forwarder) ReadResource(ctx context.Context, uri string) (mcp.Contents, error) {
	if f.client == nil {
		return mcp.Contents{}, f.words.resource(uri, f.refused)
	}
	ctx = trace.WithOrigin(ctx, trace.Origin{Request: trace.NewRequestID()})
	r, err := f.client.ReadResource(ctx, uri)
	if err != nil {
		if ctx.Err() == nil {
			trace.Log(ctx, f.log).Warn("read failed", "resource", uri, "err", err)
		}
		return mcp.Contents{}, f.words.resource(uri, err)
	}
	return mcp.Contents{URI: uri, MIMEType: r.MIMEType, Text: tools.Render(r.Content)}, nil
}

// withoutNulls drops the arguments that are null: they mean "not given".
func withoutNulls(arguments json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil {
		return arguments
	}
	for name, value := range given {
		if string(value) == "null" {
			delete(given, name)
		}
	}
	var kept bytes.Buffer
	e := json.NewEncoder(&kept)
	e.SetEscapeHTML(false) // values stay as they came
	if e.Encode(given) != nil {
		return arguments
	}
	return bytes.TrimSpace(kept.Bytes())
}
