package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/store"
	"codesage/tools"
)

// frozenStore is a store whose database does not answer.
type frozenStore struct{ store.Store }

func (frozenStore) ListRepositories(ctx context.Context) ([]codesage.Repository, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestADatabaseThatHangsIsUnavailable(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) {
		frozen := frozenStore{d.Store}
		d.Store, d.RequestTime = frozen, 50*time.Millisecond
		d.Toolsets = []tools.Set{{Name: "repositories", Tools: []tools.Tool{{
			Spec: tools.Spec{Name: "list_repositories", Arguments: tools.Schema{Title: "ListRepositoriesArgs"}},
			Call: func(ctx context.Context, _ tools.Arguments) (any, error) { return frozen.ListRepositories(ctx) },
		}}}}
	})
	for _, ask := range []struct{ method, path, body string }{
		{http.MethodGet, "/api/v1/repositories", ""},
		{http.MethodPost, "/api/v1/ai/mcp/tools/call", `{"tool_name": "list_repositories"}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), ask.method, e.url+ask.path, strings.NewReader(ask.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s %s: %s", ask.method, ask.path, res.Status)
		}
	}
}
