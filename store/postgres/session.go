package postgres

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"codesage"
	"codesage/trace"
)

// sessionSettings are what PostgreSQL is told of each connection, unless the URL
// says otherwise: what to do when this process stands still or its machine is
// gone, so that no lock of it delays another process for long.
var sessionSettings = map[string]string{
	"application_name": "codesage",

	// A wait for a lock ends, to look whether its holder stands still.
	"lock_timeout": "3s",

	// A transaction that waits for its process is given up.
	"idle_in_transaction_session_timeout": "10s",

	// A machine that does not answer is given up.
	"tcp_keepalives_idle":     "10",
	"tcp_keepalives_interval": "5",
	"tcp_keepalives_count":    "3",
	"tcp_user_timeout":        "30s",
}

// How long the database's machine may be silent, which can go without a word: until
// a connection is there, and to what is sent. With keepAlive these are for it what
// the settings above are for this machine.
const (
	connectTime = 10 * time.Second
	answerTime  = 30 * time.Second
)

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}

// lockPatience is how long a transaction is tried that finds what it needs locked.
const lockPatience = 30 * time.Second

// parse reads a URL and adds the settings of its sessions.
func parse(url string, more map[string]string) (*pgxpool.Config, error) {
	c, err := read(url)
	if err != nil {
		return nil, err
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectTime
	}
	dialer := net.Dialer{KeepAliveConfig: keepAlive, Control: func(network, _ string, conn syscall.RawConn) error {
		return boundAnswer(network, conn, answerTime)
	}}
	c.ConnConfig.DialFunc = dialer.DialContext
	params := c.ConnConfig.RuntimeParams
	for _, settings := range []map[string]string{more, sessionSettings} {
		for name, value := range settings {
			if _, isSet := params[name]; !isSet && !strings.Contains(params["options"], name) {
				params[name] = value
			}
		}
	}
	return c, nil
}

// errNotEncoded says what may be wrong with a URL that can't be shown.
var errNotEncoded = codesage.Errorf(codesage.KindInvalid,
	"DATABASE_URL: must be a URL; percent-encode the signs of its password: # is %%23, / is %%2F, ? is %%3F, @ is %%40, & is %%26, %% is %%25")

// read reads a URL. It refuses one of which a part of the password may have been
// taken for something else, such as the host, which the log and errors show.
func read(url string) (*pgxpool.Config, error) {
	if !isEncoded(url) {
		return nil, errNotEncoded
	}
	c, err := pgxpool.ParseConfig(url)
	switch {
	case err != nil && strings.Contains(url, "password="):
		return nil, errNotEncoded // pgx shows what stands after an & in it
	case err != nil:
		return nil, codesage.Errorf(codesage.KindInvalid, "DATABASE_URL: %v", err) // pgx masks the password
	case slices.ContainsFunc(places(c), func(p string) bool { return strings.Contains(p, "@") && !strings.HasPrefix(p, "/") }):
		return nil, errNotEncoded
	}
	return c, nil
}

// isEncoded reports whether the only @ of a URL, if it has one, ends its user and
// password. One with a socket's folder has no place for them, and may have an @ in
// what follows its path.
func isEncoded(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	if path, _, _ := strings.Cut(rest, "?"); strings.HasPrefix(rest, "/") {
		return !strings.Contains(path, "@")
	}
	before, after, found := strings.Cut(rest, "@")
	return !found || !strings.ContainsAny(before, "/?#") && !strings.Contains(after, "@")
}

// Host returns the places where a URL says that the database is, for the log;
// empty when a part of the password might be among them.
func Host(url string) string {
	c, err := read(url)
	if err != nil {
		return ""
	}
	return strings.Join(places(c), ", ")
}

// places are the hosts with their ports that a connection is tried with.
func places(c *pgxpool.Config) []string {
	place := func(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
	all := []string{place(c.ConnConfig.Host, c.ConnConfig.Port)}
	for _, f := range c.ConnConfig.Fallbacks {
		if next := place(f.Host, f.Port); !slices.Contains(all, next) {
			all = append(all, next)
		}
	}
	return all
}

// retryLocked runs a transaction, again while what it needs is locked, and ends
// sessions that hold locks and stand still.
func retryLocked(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger, transaction func() error) error {
	for began := time.Now(); ; {
		err := transaction()
		if !hasCode(err, lockNotAvailable) || time.Since(began) > lockPatience {
			return err
		}
		if err := endFrozen(ctx, pool, log); err != nil {
			return explain(err)
		}
	}
}

// endFrozen ends the sessions of this program that have changed or locked rows
// and have kept PostgreSQL waiting for their process for longer than a
// transaction may. PostgreSQL does so by itself only between two statements, and
// not in the middle of a COPY. Their processes stand still; if they ever go on,
// they find themselves overtaken.
func endFrozen(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	rows, err := pool.Query(ctx, `
		WITH frozen AS MATERIALIZED (
			SELECT pid, state, EXTRACT(EPOCH FROM clock_timestamp() - state_change)::BIGINT AS seconds
			FROM pg_stat_activity
			WHERE datname = current_database()
				AND usename = session_user
				AND application_name = current_setting('application_name')
				AND pid <> pg_backend_pid()
				AND backend_xid IS NOT NULL
				AND wait_event_type = 'Client'
				AND current_setting('idle_in_transaction_session_timeout')::INTERVAL > INTERVAL '0'
				AND state_change < clock_timestamp() - current_setting('idle_in_transaction_session_timeout')::INTERVAL)
		SELECT pid, state, seconds
		FROM frozen
		WHERE pg_terminate_backend(pid)`)
	if err != nil {
		return err
	}
	var pid int32
	var state string
	var seconds int64
	_, err = pgx.ForEachRow(rows, []any{&pid, &state, &seconds}, func() error {
		trace.Log(ctx, log).Warn("ended a session of the database that held locks and stood still", "pid", pid, "state", state, "seconds", seconds)
		return nil
	})
	return err
}

// lockNotAvailable is the SQLSTATE of a wait that lock_timeout ended.
const lockNotAvailable = "55P03"

// hasCode reports whether an error is an answer of the server with a SQLSTATE.
func hasCode(err error, code string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == code
}
