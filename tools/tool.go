// Package tools says what a tool is: its name, description, argument schema
// and what it does. It checks arguments the way the contract's models do and
// words every fault. The toolsets are in tools/repositories and tools/sessions.
package tools

import (
	"context"
	"fmt"
)

// Spec is a tool as clients see it. The bridge needs no more than this.
type Spec struct {
	Name        string
	Description string
	Arguments   Schema
	Writes      bool // changes something: not for the read key, not a read-only hint
	Destroys    bool // takes something away: a destructive hint
	Slow        bool // may take longer than the bridge's usual 30 s
}

// Tool is a tool that can be called. Call gets checked arguments. An error that
// is a *Failure is the tool's own answer; any other error is translated by its
// codesage.Kind, and one without a kind is a fault of the server.
type Tool struct {
	Spec
	Call func(ctx context.Context, a Arguments) (result any, err error)
}

// Set is a toolset: its tools in the order in which clients list them.
type Set struct {
	Name  string // "repositories" or "sessions"
	Tools []Tool
}

// Find returns the tool of a name.
func (s Set) Find(name string) (Tool, bool) {
	for _, t := range s.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Failure is a tool's refusal: something the caller can act on. Code is the
// JSON-RPC code of a session tool; repository tools leave it 0.
type Failure struct {
	Message string
	Code    int
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Failf returns a Failure without a code.
func Failf(format string, args ...any) *Failure {
	return &Failure{Message: fmt.Sprintf(format, args...)}
}

// Progress is told how far a call is; done and total are in one unit, total 0
// when it isn't known.
type Progress func(done, total int, message string)

type progressKey struct{}

// WithProgress returns a context through which a slow tool reports progress.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// ReportProgress tells the caller of a tool how far it is, if it asked.
func ReportProgress(ctx context.Context, done, total int, message string) {
	if p, ok := ctx.Value(progressKey{}).(Progress); ok {
		p(done, total, message)
	}
}

type protocolKey struct{}

// WithProtocol returns a context that tells a tool which version of MCP its
// client speaks.
func WithProtocol(ctx context.Context, version string) context.Context {
	return context.WithValue(ctx, protocolKey{}, version)
}

// Protocol returns the version of MCP that the client of a call speaks, or ""
// when it isn't known.
func Protocol(ctx context.Context) string {
	version, _ := ctx.Value(protocolKey{}).(string)
	return version
}

type namesKey struct{}

// WithNames returns a context that tells a tool by what names clients know the
// tools of its set.
func WithNames(ctx context.Context, nameOf func(tool string) string) context.Context {
	return context.WithValue(ctx, namesKey{}, nameOf)
}

// NameOf returns the name by which the client of a call knows a tool.
func NameOf(ctx context.Context, tool string) string {
	if nameOf, ok := ctx.Value(namesKey{}).(func(string) string); ok {
		return nameOf(tool)
	}
	return tool
}
