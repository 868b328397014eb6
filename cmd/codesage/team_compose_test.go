package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"codesage/config"
)

// composeOnly are the variables of docker-compose.yml that are none of the
// program's, with what they are for.
var composeOnly = map[string]string{
	"POSTGRES_PASSWORD": "becomes part of DATABASE_URL",
	"REDIS_PASSWORD":    "becomes part of REDIS_URL",
	"CODESAGE_LISTEN":   "where the engine publishes the API's port on the host",
	"WORKERS":           "how many worker containers there are",
	"VERSION":           "what `codesage version` says in the image",
}

// composeFile is what the tests look at in docker-compose.yml.
type composeFile struct {
	Services map[string]struct {
		Restart     string         `yaml:"restart"`
		Ports       []string       `yaml:"ports"`
		Environment map[string]any `yaml:"environment"`
		ReadOnly    bool           `yaml:"read_only"`
		Networks    []string       `yaml:"networks"`
		Volumes     []string       `yaml:"volumes"`
		Healthcheck map[string]any `yaml:"healthcheck"`
		CapDrop     []string       `yaml:"cap_drop"`
	} `yaml:"services"`
	Networks map[string]struct {
		Internal bool `yaml:"internal"`
	} `yaml:"networks"`
}

func readCompose(t *testing.T) (text string, c composeFile) {
	t.Helper()
	data, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return string(data), c
}

func TestComposeServicesAreClosedAndWatched(t *testing.T) {
	t.Parallel()
	_, c := readCompose(t)
	for name, s := range c.Services {
		isOurs := slices.Contains([]string{"api", "worker", "migrate"}, name)
		if !s.ReadOnly || s.Restart == "" {
			t.Errorf("%s: read-only %v, restart %q", name, s.ReadOnly, s.Restart)
		}
		if s.Healthcheck == nil && name != "migrate" {
			t.Errorf("%s has no health check", name)
		}
		if len(s.Ports) > 0 && name != "api" {
			t.Errorf("%s is published: %v", name, s.Ports)
		}
		if !isOurs && !slices.Equal(s.Networks, []string{"inside"}) {
			t.Errorf("%s is in the networks %v", name, s.Networks)
		}
		if isOurs && !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s keeps capabilities", name)
		}
	}
	if len(c.Services) != 5 || !c.Networks["inside"].Internal {
		t.Errorf("%d services, networks %v", len(c.Services), c.Networks)
	}
	image, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(image), "\nUSER 10001:10001\n") || !strings.Contains(string(image), "scripts/image /image") {
		t.Error("the image runs as root, or is not made by scripts/image")
	}
}

func TestComposeVariablesAreInTheTable(t *testing.T) {
	t.Parallel()
	text, c := readCompose(t)
	known, secret := map[string]bool{}, map[string]bool{"POSTGRES_PASSWORD": true, "REDIS_PASSWORD": true, "REDISCLI_AUTH": true}
	for _, v := range config.Variables {
		known[v.Name], secret[v.Name] = true, v.Secret
	}
	used := regexp.MustCompile(`\$\{([A-Z_0-9]+)(:[-?][^}]*)?\}`)
	required := []string{}
	for _, m := range used.FindAllStringSubmatch(text, -1) {
		if !known[m[1]] && composeOnly[m[1]] == "" {
			t.Errorf("%s is neither in the table of variables nor listed here with a reason", m[1])
		}
		if strings.HasPrefix(m[2], ":?") {
			required = append(required, m[1])
		}
	}
	for name := range c.Services["api"].Environment {
		if !known[name] {
			t.Errorf("the API gets %s, which it does not read", name)
		}
	}
	for service, s := range c.Services {
		for name, value := range s.Environment {
			text, _ := value.(string)
			rest := used.ReplaceAllString(text, "")
			if secret[name] && (rest == text || strings.Contains(text, ":-") && !strings.Contains(text, ":-}")) {
				t.Errorf("%s of %s is written in the file", name, service)
			}
		}
	}
	checkExample(t, required, func(name string) bool { return known[name] || composeOnly[name] != "" })
}

// checkExample checks that .env.example has what must be set, no secret, and
// nothing that is unknown.
func checkExample(t *testing.T, required []string, isKnown func(string) bool) {
	t.Helper()
	data, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		named[name] = true
		if !isKnown(name) {
			t.Errorf(".env.example names %s, which nobody reads", name)
		}
		if value != "" && slices.Contains(required, name) {
			t.Errorf(".env.example has a value for %s", name)
		}
	}
	for _, name := range required {
		if !named[name] {
			t.Errorf(".env.example lacks %s", name)
		}
	}
}

func TestComposeFileIsValid(t *testing.T) {
	t.Parallel()
	if err := exec.Command("docker", "compose", "version").Run(); err != nil {
		t.Skip("no docker compose: ", err)
	}
	cmd := exec.Command("docker", "compose", "config", "--quiet")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "POSTGRES_PASSWORD=a", "REDIS_PASSWORD=b", "CODESAGE_API_KEY=c")
	var fault bytes.Buffer
	cmd.Stderr = &fault
	if err := cmd.Run(); err != nil || fault.Len() > 0 {
		t.Errorf("docker compose config: %v\n%s", err, &fault)
	}
}

func TestScriptsAreShell(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../scripts/image", "../../scripts/up", "../../scripts/test"} {
		if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}
