package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codesage"
	"codesage/api/client"
	"codesage/search/algolia/algoliatest"
)

func TestAlgoliaIsTheEngineWhenItsKeysAreSet(t *testing.T) {
	t.Parallel()
	fake := algoliatest.New(t, algoliatest.Options{})
	s := newServer(t, algoliaSettings(t, fake)...)
	folder := t.TempDir()
	newTree(7, 20, 1).write(t, folder)
	if _, run := s.index(folder, "hosted"); run.Status != codesage.StatusCompleted {
		t.Fatalf("the run is %s: %s\n%s", run.Status, run.Error, s.log.text())
	}
	found := must[searchResult](t, s, "search_code", args{"query": "order"})
	if found.TotalHits == 0 {
		t.Error("nothing was found")
	}
	if lines := must[patternsResult](t, s, "find_patterns", args{"repository": "hosted", "pattern": "version1"}); lines.TotalMatches == 0 {
		t.Error("no line was found")
	}
	if strings.Contains(s.log.text(), algoliatest.AdminKey) {
		t.Error("the key is in the log")
	}
	s.stop()
}

func TestARunWhoseKeyAlgoliaRefusesSaysSo(t *testing.T) {
	t.Parallel()
	fake := algoliatest.New(t, algoliatest.Options{})
	s := newServer(t, algoliaSettings(t, fake)...)
	fake.Fail("batch", 1000, http.StatusForbidden, 0)
	folder := t.TempDir()
	newTree(7, 20, 1).write(t, folder)
	_, run := s.index(folder, "hosted")
	if run.Status != codesage.StatusFailed || !strings.Contains(run.Error, "set ALGOLIA_ADMIN_API_KEY") {
		t.Errorf("the run is %s: %s", run.Status, run.Error)
	}
	s.stop()
}

// Algolia bills questions, and probes ask every few seconds: one answer stands for
// those that follow. A failure does not.
func TestProbesAskAlgoliaOnceInAWhile(t *testing.T) {
	t.Parallel()
	fake := algoliatest.New(t, algoliatest.Options{})
	s := newServer(t, algoliaSettings(t, fake)...)
	probe := func(want int) {
		t.Helper()
		res, err := http.Get(s.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("readyz: got %s, want %d\n%s", res.Status, want, s.log.text())
		}
	}
	fake.Fail("query", 1000, http.StatusForbidden, 0)
	probe(http.StatusServiceUnavailable)
	probe(http.StatusServiceUnavailable)
	fake.ClearFaults()
	fake.Requests()
	for range 5 {
		probe(http.StatusOK)
	}
	if asked := fake.Requests(); len(asked) != 1 || asked[0].Route != "query" {
		t.Errorf("five probes asked %d times", len(asked))
	}
	s.stop()
}

// algoliaSettings make the program use the fake service.
func algoliaSettings(t *testing.T, fake *algoliatest.Server) settings {
	t.Helper()
	return settings{"ALGOLIA_APP_ID=" + algoliatest.AppID, "ALGOLIA_ADMIN_API_KEY=" + algoliatest.AdminKey,
		"ALGOLIA_HOSTS=" + fake.Host(), trusting(t, certificate(t, fake))}
}

// trusting is the setting that makes the program trust certificates.
func trusting(t *testing.T, certificates ...[]byte) string {
	t.Helper()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, bytes.Join(certificates, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return "SSL_CERT_FILE=" + roots
}

// certificate is that of the fake service, for the program to trust.
func certificate(t *testing.T, fake *algoliatest.Server) []byte {
	t.Helper()
	res, err := fake.Client().Get("https://" + fake.Host() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: res.TLS.PeerCertificates[0].Raw})
}

func TestAlgoliaWithoutKeysIsNotConfigured(t *testing.T) {
	t.Parallel()
	s := newServer(t, "SEARCH_ENGINE=algolia", "ALGOLIA_APP_ID=APP")
	for tool, a := range map[string]args{
		"search_code":    {"query": "order"},
		"add_repository": {"url": "https://github.com/golang/example"},
	} {
		answer, err := call(s.api, tool, a)
		if err != nil || !answer.IsError || !strings.Contains(answer.Error, "is not configured on the server") {
			t.Errorf("%s: got %v, %v", tool, answer, err)
		}
	}
	if _, err := s.api.AddURL(context.Background(), client.URL{URL: "https://github.com/golang/example"}); err == nil ||
		!strings.Contains(err.Error(), "Search indexing is not configured") || !strings.Contains(err.Error(), "(503)") {
		t.Errorf("adding by REST: got %v", err)
	}
	res, err := http.Get(s.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("readyz: got %s", res.Status)
	}
	folder := t.TempDir()
	newTree(8, 10, 1).write(t, folder)
	if _, run := s.index(folder, "plain"); run.Status != codesage.StatusCompleted {
		t.Errorf("a folder's run is %s: %s", run.Status, run.Error)
	}
	s.stop()
}
