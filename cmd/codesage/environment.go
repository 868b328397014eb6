package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/joho/godotenv"

	"codesage/config"
)

// serverConfig reads the configuration of a server command: the environment,
// and for what it lacks a file .env in the working folder. It returns the name
// of the file that it read, if any.
func serverConfig(getenv func(string) string) (c config.Config, env func(string) string, file string, err error) {
	values := map[string]string{}
	text, err := os.ReadFile(".env")
	switch {
	case err == nil:
		file = ".env"
		// The parser's own errors quote the file, and with it the keys in it.
		if values, err = godotenv.UnmarshalBytes(text); err != nil {
			return c, nil, "", errors.New("the file .env in the working folder is no list of NAME=value lines; mend or remove it")
		}
	case !errors.Is(err, fs.ErrNotExist):
		return c, nil, "", fmt.Errorf("read .env in the working folder: %w; mend or remove it", err)
	}
	env = func(name string) string {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return v
		}
		return values[name]
	}
	if c, err = config.Load(env); err != nil {
		return c, env, file, err
	}
	return c, env, file, exportValues(values)
}

// exportValues gives what a .env file says for libraries to them: they read
// the environment of the process, which goes before the file.
func exportValues(values map[string]string) error {
	for _, name := range config.OfLibraries {
		if value := values[name]; value != "" && os.Getenv(name) == "" {
			if err := os.Setenv(name, value); err != nil {
				return fmt.Errorf("set %s: %w", name, err)
			}
		}
	}
	return nil
}
