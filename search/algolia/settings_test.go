package algolia

import (
	"errors"
	"strings"
	"testing"

	"codesage"
	"codesage/search/algolia/algoliatest"
)

func TestSettingsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	if got := routes(s); got != "GET settings PUT settings" {
		t.Errorf("the first open asked %q, want the settings read and written", got)
	}
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	s.Requests()
	openAt(t, s, Config{})
	if got := routes(s); got != "GET settings" {
		t.Errorf("the second open asked %q, want the settings read", got)
	}
	index(t, e, 2, 2, tree{"a.go": {"load"}})
	if got := routes(s); strings.Contains(got, "settings") {
		t.Errorf("a writer asked %q, want nothing of settings", got)
	}
}

func TestOtherSettingsAreReplacedAndForeignUserDataStays(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{})
	s.SetSettings("entities", map[string]any{
		"userData":      map[string]any{settingsKey: "before", "owner": "someone"},
		"customRanking": []any{"desc(stars)"},
	})
	openAt(t, s, Config{})
	got := s.Settings("entities")
	data, _ := got["userData"].(map[string]any)
	want, err := settingsVersion(settings())
	if err != nil || data[settingsKey] != want || data["owner"] != "someone" {
		t.Errorf("user data are %v, %v, want version %s and the owner kept", data, err, want)
	}
	if ranking, _ := got["customRanking"].([]any); len(ranking) != 2 || ranking[0] != "asc(is_test)" || ranking[1] != "desc(rank_weight)" {
		t.Errorf("custom ranking is %v", got["customRanking"])
	}
}

func TestServiceThatIsAwayAtOpenGetsSettingsBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{})
	s.Fail("settings", triesOfSearch, 503, 0)
	e := openAt(t, s, Config{})
	if r, err := e.Search(t.Context(), load); err != nil || r.TotalHits != 0 {
		t.Errorf("search without an index: got %d hits, %v, want none", r.TotalHits, err)
	}
	s.Requests()
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	if got := routes(s); !strings.HasPrefix(got, "GET settings PUT settings batch+1-0") {
		t.Errorf("asked %q, want settings first", got)
	}
}

func TestRefusedKeyIsToldAtOpen(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{})
	c := Config{AppID: algoliatest.AppID, AdminKey: "wrong", IndexName: "entities", Hosts: []string{s.Host()}, HTTP: s.Client(), Sleep: noSleep}
	if _, err := Open(t.Context(), c); !errors.Is(err, codesage.ErrDenied) {
		t.Errorf("got %v, want KindDenied", err)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	good := Config{AppID: "APP", AdminKey: "s3cret\n", IndexName: "a_b-c.d"}
	for name, change := range map[string]func(c *Config){
		"no application":  func(c *Config) { c.AppID = "" },
		"odd application": func(c *Config) { c.AppID = "evil.example/" },
		"no key":          func(c *Config) { c.AdminKey = "" },
		"odd key":         func(*Config) {},
		"no index":        func(c *Config) { c.IndexName = "" },
		"odd index":       func(c *Config) { c.IndexName = "a/b" },
		"url as host":     func(c *Config) { c.AdminKey, c.Hosts = "k", []string{"https://x"} },
	} {
		c := good
		change(&c)
		_, err := Open(t.Context(), c)
		if !errors.Is(err, codesage.ErrInvalid) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want KindInvalid without the key", name, err)
		}
	}
}
