package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/joho/godotenv"

	"codesage/config"
)

// serverConfig reads the configuration of a server command: the environment,
// and for what it lacks a file .env in the working folder. It returns the name
// of the file that it read, if any.
func serverConfig(getenv func(string) string) (c config.Config, env func(string) string, file string, err error) {
	values, err := godotenv.Read(".env")
	switch {
	case err == nil:
		file = ".env"
	case !errors.Is(err, fs.ErrNotExist):
		return c, nil, "", fmt.Errorf("read .env in the working folder: %w; mend or remove it", err)
	}
	env = func(name string) string {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return v
		}
		return values[name]
	}
	c, err = config.Load(env)
	return c, env, file, err
}
