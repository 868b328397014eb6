package main

import (
	"os"
	"testing"
)

// Libraries read the environment of the process and know nothing of .env files.
// Not parallel: it changes that environment and the working folder.
func TestLibrariesSeeWhatTheFileSays(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{".env": "OTEL_SERVICE_NAME=house\nOTEL_TRACES_SAMPLER=always_on\n"})
	t.Chdir(dir)
	if _, _, file, err := serverConfig(func(name string) string {
		if name == "CODESAGE_DATA_DIR" {
			return dir
		}
		return os.Getenv(name)
	}); err != nil || file != ".env" {
		t.Fatalf("read %q: %v", file, err)
	}
	if got := os.Getenv("OTEL_SERVICE_NAME"); got != "house" {
		t.Errorf("the file's value is %q for libraries", got)
	}
	if got := os.Getenv("OTEL_TRACES_SAMPLER"); got != "always_off" {
		t.Errorf("the file overrides the environment: %q", got)
	}
}
