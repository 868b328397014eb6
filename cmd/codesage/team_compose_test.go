package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	"codesage/store/postgres/postgrestest"
)

// composeFile is what the tests look at in docker-compose.yml.
type composeFile struct {
	Services map[string]struct {
		Image       string         `yaml:"image"`
		Build       map[string]any `yaml:"build"`
		PullPolicy  string         `yaml:"pull_policy"`
		User        string         `yaml:"user"`
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
	// A key beside << stands before what is merged; this package calls it double.
	if err := yaml.UnmarshalWithOptions(data, &c, yaml.AllowDuplicateMapKey()); err != nil {
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
		if isOurs && s.PullPolicy != "never" {
			t.Errorf("%s: our image is looked for in a registry", name)
		}
		if len(s.Ports) > 0 && name != "api" {
			t.Errorf("%s is published: %v", name, s.Ports)
		}
		if !isOurs && !slices.Equal(s.Networks, []string{"inside"}) {
			t.Errorf("%s is in the networks %v", name, s.Networks)
		}
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !isOurs && s.User != "999:999" {
			t.Errorf("%s keeps capabilities, or is user %q", name, s.User)
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

// Each service that builds would leave an image of its own without a name, and
// each folder that an image declares a volume without a name, at every start.
func TestComposeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	_, c := readCompose(t)
	volumes := map[string]string{"codesage": "/data", "postgres:17-bookworm": "/var/lib/postgresql/data", "redis:7-bookworm": "/data"}
	var builders []string
	for name, s := range c.Services {
		if s.Build != nil {
			builders = append(builders, name)
		}
		folder := volumes[s.Image]
		isNamed := slices.ContainsFunc(s.Volumes, func(v string) bool { return strings.HasSuffix(v, ":"+folder) })
		isMemory := slices.ContainsFunc(s.Tmpfs, func(v string) bool { return strings.HasPrefix(v, folder+":") })
		if folder == "" || !isNamed && !isMemory {
			t.Errorf("%s: nothing is mounted at %q, a volume of the image %s", name, folder, s.Image)
		}
	}
	if !slices.Equal(builders, []string{"migrate"}) {
		t.Errorf("the image is built for %v, want for migrate, which starts first", builders)
	}
}

// A setting that can't work in the containers must be told by who uses it, not
// keep the schema from being brought up to date.
func TestComposeMigratesWithTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	_, c := readCompose(t)
	env := settings(imageEnvironment(t))
	for name, value := range c.Services["migrate"].Environment {
		switch name {
		case "DATABASE_URL":
			value = postgrestest.Start(t).Database(t)
		case "LOG_LEVEL", "LOG_FORMAT":
			continue
		}
		env = append(env, fmt.Sprint(name, "=", value))
	}
	got := (command{args: []string{"migrate"}, env: env}).run(t)
	if got.code != exitOK || !strings.Contains(got.stdout, "was brought from 0") {
		t.Errorf("code %d, %s%s", got.code, got.stdout, got.stderr)
	}
	if len(c.Services["migrate"].Environment) != 4 {
		t.Errorf("migrate gets %v", c.Services["migrate"].Environment)
	}
}

// imageEnvironment are the variables that the image sets.
func imageEnvironment(t *testing.T) []string {
	t.Helper()
	_, line, _ := strings.Cut(text(t, "../../Dockerfile"), "\nENV ")
	line, _, _ = strings.Cut(line, "\n")
	return strings.Fields(line)
}

func TestComposeVariablesAreInTheTable(t *testing.T) {
	t.Parallel()
	text, c := readCompose(t)
	ofServer, defaults, secret := map[string]bool{}, map[string]string{}, map[string]bool{"REDISCLI_AUTH": true}
	for _, v := range config.Variables {
		ofServer[v.Name], defaults[v.Name], secret[v.Name] = true, "", v.Secret
	}
	for _, v := range config.ComposeVariables {
		defaults[v.Name], secret[v.Name] = v.Default, v.Secret
		if ofServer[v.Name] || !strings.Contains(text, "${"+v.Name+":") {
			t.Errorf("%s is the server's, or docker-compose.yml does not read it", v.Name)
		}
	}
	used := regexp.MustCompile(`\$\{([A-Z_0-9]+)(:[-?][^}]*)?\}`)
	required := []string{}
	for _, m := range used.FindAllStringSubmatch(text, -1) {
		if value, known := defaults[m[1]]; !known {
			t.Errorf("%s is not in the table of variables", m[1])
		} else if given, ok := strings.CutPrefix(m[2], ":-"); ok && given != value {
			t.Errorf("%s has the default %q, and %q in the table", m[1], given, value)
		}
		if m[1] == "OTEL_RESOURCE_ATTRIBUTES" {
			t.Errorf("%s is %s", m[1], "what the docker command made it, never what .env says")
		}
		if strings.HasPrefix(m[2], ":?") {
			required = append(required, m[1])
		}
	}
	for name := range c.Services["api"].Environment {
		if !ofServer[name] {
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
	checkExample(t, required, func(name string) bool { _, known := defaults[name]; return known })
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
	command[len(command)-1] = strings.Replace(script, "--dir /data", "--dir "+dir+" --port 0 --unixsocket "+socket, 1)
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

// fakeDocker puts the scripts and a command docker that runs the lines of body
// into a folder, and returns a call of scripts/NAME there.
func fakeDocker(t *testing.T, name, body string) (dir string, cmd *exec.Cmd) {
	t.Helper()
	dir = t.TempDir()
	writeFiles(t, dir, map[string]string{
		"scripts/" + name: text(t, "../../scripts/"+name),
		".env.example":    text(t, "../../.env.example"),
		"bin/docker":      "#!/bin/sh\n[ \"$2\" = version ] && exit\n" + body,
	})
	if err := os.Chmod(filepath.Join(dir, "bin/docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command("bash", filepath.Join(dir, "scripts", name))
	cmd.Env = settings{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
	return dir, cmd
}

func TestUpMakesSecrets(t *testing.T) {
	t.Parallel()
	dir, cmd := fakeDocker(t, "up", "[ \"$2\" != port ] || echo 127.0.0.1:8001\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ready at http://127.0.0.1:8001\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(filepath.Join(dir, ".env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	made := text(t, filepath.Join(dir, ".env"))
	for _, name := range []string{"POSTGRES_PASSWORD", "REDIS_PASSWORD", "CODESAGE_API_KEY"} {
		if !regexp.MustCompile(`(?m)^` + name + `=[0-9a-f]{48}$`).MatchString(made) {
			t.Errorf("%s has no secret", name)
		}
	}
}

// What ended migrate or the API is in their logs, which `make up` shows.
func TestUpTellsWhyTheServerDoesNotStart(t *testing.T) {
	t.Parallel()
	_, cmd := fakeDocker(t, "up", `case $2 in
up) exit 1 ;;
logs) echo "migrate: the reason of $*" ;;
esac
`)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the reason of compose logs") || !strings.Contains(string(out), "is not ready") {
		t.Errorf("%v\n%s", err, out)
	}
}

// `make up` made .env; without it `make down` must stop what runs all the same.
func TestDownNeedsNoSettings(t *testing.T) {
	t.Parallel()
	_, cmd := fakeDocker(t, "down", `echo "$*" "${POSTGRES_PASSWORD:?}" "${REDIS_PASSWORD:?}" "${CODESAGE_API_KEY:?}"`+"\n")
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
	env := append(imageEnvironment(t), "CODESAGE_DATA_DIR="+t.TempDir(), "CODESAGE_PORT=0")
	_, cmd, _ := strings.Cut(image, "\nCMD ")
	var args []string
	if err := json.Unmarshal([]byte(cmd), &args); err != nil {
		t.Fatalf("CMD %s: %v", cmd, err)
	}
	if got := (command{args: args, env: env}).run(t); got.code != exitFailed || !strings.Contains(got.stderr, "needs CODESAGE_API_KEY") {
		t.Errorf("without a key: code %d, %s", got.code, got.stderr)
	}
	s := newServer(t, append(imageEnvironment(t), "CODESAGE_API_KEY="+adminCanary, "CODESAGE_DATA_DIR="+t.TempDir())...)
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
