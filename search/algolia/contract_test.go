package algolia

import (
	"context"
	"testing"
	"time"

	"codesage/search"
	"codesage/search/algolia/algoliatest"
	"codesage/search/searchtest"
)

// noSleep lets no time pass, and ends with the context as the real one does.
func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// openFake returns an engine on a server of its own.
func openFake(t *testing.T, c Config) (*Engine, *algoliatest.Server) {
	t.Helper()
	s := algoliatest.New(t, algoliatest.Options{})
	return openAt(t, s, c), s
}

func openAt(t *testing.T, s *algoliatest.Server, c Config) *Engine {
	t.Helper()
	c.AppID, c.IndexName = algoliatest.AppID, "entities"
	if c.HTTP == nil {
		c.HTTP = s.Client()
	}
	if c.AdminKey == "" {
		c.AdminKey = algoliatest.AdminKey
	}
	if c.Hosts == nil {
		c.Hosts = []string{s.Host()}
	}
	if c.Sleep == nil {
		c.Sleep = noSleep
	}
	e, err := Open(t.Context(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return e
}

// skips are where Algolia's own rules differ from the contract.
var skips = map[string]string{
	"PathAndLine":    "the custom ranking ends with the rank weight; hits that are equal then come in an order of Algolia's own, which stays",
	"ExactCase":      "Algolia ignores case and separators: names that differ in nothing else are equal, and the rank weight orders them",
	"QualifiedNames": "to Algolia a qualified name is words like others: it drops stop words of it, and the owner may match in any attribute",
	"NameAndPlace":   "Algolia ranks by the attributes that have the words, so names with more of them come before a place and a name that have all",
	"OldRunStays":    "Algolia has one version of a record: a committed run is seen by every snapshot of its repository",
}

func TestContract(t *testing.T) {
	t.Parallel()
	searchtest.Run(t, func(t *testing.T) search.Engine {
		e, _ := openFake(t, Config{})
		return e
	}, searchtest.Options{Skip: skips})
}
