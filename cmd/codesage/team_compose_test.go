package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/redis/go-redis/v9"

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
		Tmpfs       []string       `yaml:"tmpfs"`
		Command     []string       `yaml:"command"`
		Logging     struct {
			Options map[string]string `yaml:"options"`
		} `yaml:"logging"`
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
		if s.Logging.Options["max-size"] == "" || s.Logging.Options["max-file"] == "" {
			t.Errorf("%s writes a log without end", name)
		}
		for _, mount := range s.Tmpfs {
			if !strings.Contains(mount, "size=") {
				t.Errorf("%s may fill the memory through %s", name, mount)
			}
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

// compose is the command that docker's plugin or the program of that name
// answers to; the test is skipped where there is neither.
func compose(t *testing.T) []string {
	t.Helper()
	for _, command := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.Command(command[0], append(command[1:], "version")...).Run() == nil {
			return command
		}
	}
	t.Skip("no docker compose")
	return nil
}

func TestComposeFileIsValid(t *testing.T) {
	t.Parallel()
	command := append(compose(t), "config", "--quiet")
	dir := t.TempDir() // the checkout may have a .env
	writeFiles(t, dir, map[string]string{"docker-compose.yml": text(t, "../../docker-compose.yml")})
	for _, tc := range []struct {
		name  string
		env   settings
		fault string
	}{
		{"with its secrets", settings{"POSTGRES_PASSWORD=a", "REDIS_PASSWORD=b", "CODESAGE_API_KEY=c"}, ""},
		{"without a secret", settings{"POSTGRES_PASSWORD=a", "REDIS_PASSWORD=b"}, "set it in .env"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		cmd.Env = append(settings{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "DOCKER_CONFIG=" + os.Getenv("DOCKER_CONFIG")}, tc.env...)
		var fault bytes.Buffer
		cmd.Stderr = &fault
		if err := cmd.Run(); (err != nil) != (tc.fault != "") || !strings.Contains(fault.String(), tc.fault) || tc.fault == "" && fault.Len() > 0 {
			t.Errorf("%s: %v\n%s", tc.name, err, &fault)
		}
	}
}

// Redis takes its password from standard input, where ps does not see it.
func TestComposeStartsRedisWithoutThePasswordInItsArguments(t *testing.T) {
	t.Parallel()
	_, c := readCompose(t)
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("no redis-server")
	}
	dir, socket := t.TempDir(), filepath.Join(t.TempDir(), "s")
	command := slices.Clone(c.Services["redis"].Command)
	script := strings.ReplaceAll(command[len(command)-1], "$$", "$")
	command[len(command)-1] = strings.Replace(script, "--dir /tmp", "--dir "+dir+" --port 0 --unixsocket "+socket, 1)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = settings{"PATH=" + os.Getenv("PATH"), "REDISCLI_AUTH=" + redisCanary}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, Password: redisCanary})
	t.Cleanup(func() { _ = rdb.Close() })
	if !await(func() bool { return rdb.Ping(t.Context()).Err() == nil }, nil) {
		t.Fatal("Redis did not answer with the password")
	}
	without := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { _ = without.Close() })
	if err := without.Ping(t.Context()).Err(); err == nil {
		t.Error("Redis answers without a password")
	}
	if strings.Contains(script, redisCanary) || strings.Contains(script, "--requirepass") {
		t.Errorf("the password is an argument: %s", script)
	}
}

// `make up` made .env; without it `make down` must stop what runs all the same.
func TestDownNeedsNoSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"scripts/down": text(t, "../../scripts/down"),
		"bin/docker":   "#!/bin/sh\n[ \"$2\" = version ] || echo \"$*\" \"${POSTGRES_PASSWORD:?}\" \"${REDIS_PASSWORD:?}\" \"${CODESAGE_API_KEY:?}\"\n",
	})
	if err := os.Chmod(filepath.Join(dir, "bin/docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", filepath.Join(dir, "scripts/down"))
	cmd.Env = settings{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "compose down none") || !strings.Contains(string(out), "there is no .env") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The image's own command can be reached from outside its container, and so
// asks for a key.
func TestTheImageAsksForAKey(t *testing.T) {
	t.Parallel()
	image := text(t, "../../Dockerfile")
	_, line, _ := strings.Cut(image, "\nENV ")
	line, _, _ = strings.Cut(line, "\n")
	env := append(strings.Fields(line), "CODESAGE_DATA_DIR="+t.TempDir(), "CODESAGE_PORT=0")
	_, cmd, _ := strings.Cut(image, "\nCMD ")
	var args []string
	if err := json.Unmarshal([]byte(cmd), &args); err != nil {
		t.Fatalf("CMD %s: %v", cmd, err)
	}
	if got := (command{args: args, env: env}).run(t); got.code != exitFailed || !strings.Contains(got.stderr, "needs CODESAGE_API_KEY") {
		t.Errorf("without a key: code %d, %s", got.code, got.stderr)
	}
	s := newServer(t, append(strings.Fields(line), "CODESAGE_API_KEY="+adminCanary, "CODESAGE_DATA_DIR="+t.TempDir())...)
	if !strings.Contains(s.log.text(), `"CODESAGE_HOST":"0.0.0.0"`) {
		t.Errorf("the image does not listen on all addresses:\n%s", s.log.text())
	}
	s.stop()
}

func TestScriptsAreShell(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../scripts/image", "../../scripts/up", "../../scripts/down", "../../scripts/test", "../../scripts/fuzz"} {
		if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}
