package main

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/config"
	"codesage/queue"
	"codesage/store/postgres"
)

// Whatever a password is made of, what is refused and what can't be reached is
// told without a part of it.
func FuzzNoPartOfAPasswordIsTold(f *testing.F) {
	for _, seed := range []string{"QXZVQXZV", "QXZV@QZVX", "@QXZV", "QXZV@", "QXZV#QZVX", "1/QXZV@QZVX/V", "1?host=/QXZV&x=@QZVX", "%QXZV", "%40QXZV", "[QXZV]",
		"QXZV QZVX", ":QXZV:", `\QXZV`, ",QXZV@QZVX,Q", "1?QXZV&QZVX=", "QXZV%2FQZVX", "QXZV=&;QZVX"} {
		f.Add(seed)
	}
	const alphabet = "QXZV17@@@:/?#%&=[],\\ +;"
	f.Fuzz(func(t *testing.T, seed string) {
		t.Parallel()
		password := []byte(seed) // of signs that no message has by chance
		for i, b := range password {
			if !strings.ContainsRune(alphabet, rune(b)) {
				password[i] = alphabet[int(b)%len(alphabet)]
			}
		}
		for _, written := range []string{string(password), url.QueryEscape(string(password))} {
			said := whatIsTold(t, "postgres://bob:"+written+"@127.0.0.1:1/x?connect_timeout=1", "redis://bob:"+written+"@127.0.0.1:1/0")
			for _, text := range []string{string(password), written} {
				for i := 4; i <= len(text); i++ {
					if part := text[i-4 : i]; strings.ContainsAny(part, "QXZV") && strings.Contains(said, part) {
						t.Fatalf("%q of %q is told: %s", part, written, said)
					}
				}
			}
		}
	})
}

// whatIsTold is what is said of a database and a Redis that are not there.
func whatIsTold(t *testing.T, database, redis string) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	said := postgres.Host(database) + "\n" + queue.Host(redis)
	if _, err := config.Load(func(name string) string {
		return map[string]string{"HOME": "/home/ada", "DATABASE_URL": database, "REDIS_URL": redis}[name]
	}); err != nil {
		said += "\n" + err.Error()
	}
	// No less when they were not looked at before.
	_, err := postgres.Open(ctx, database, log)
	said += "\n" + codesage.Detail(err)
	client, err := queue.Connect(redis, log)
	if err != nil {
		return said + "\n" + err.Error()
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	return said
}
