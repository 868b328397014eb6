package postgres

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"codesage"
)

// away is what callers are told while the database can't do what they ask. What
// can be done about it is for whoever runs the server.
const away = "the database is not available; try again later"

// advice is why the database can't do what it was asked, in words for whoever
// runs the server. They go to the log, and to the terminal at a start.
type advice struct {
	kind  codesage.Kind // at a start: whether waiting may help
	words string
	cause error // of the driver; it names hosts and users
}

func (a *advice) Error() string { return a.words + ": " + a.cause.Error() }

func (a *advice) Unwrap() error { return a.cause }

// explain gives an error of the driver its kind, and words for callers. What the
// log should say is its cause. Others pass as they are.
func explain(err error) error {
	var known *codesage.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	a := advise(err)
	if a == nil {
		return err
	}
	message := away
	switch {
	case a.words == otherSchema:
		message = otherSchema
	case hasCode(err, onlyReads):
		message = "the database takes no writes; try again later"
	}
	return &codesage.Error{Kind: codesage.KindUnavailable, Message: message, Err: a}
}

// explainStart is explain for a program that starts: the one who started it can
// do something about the cause.
func explainStart(err error) error {
	var a *advice
	if errors.As(explain(err), &a) {
		return &codesage.Error{Kind: a.kind, Message: a.words, Err: a.cause}
	}
	var known *codesage.Error
	var connecting *pgconn.ConnectError
	var answer *pgconn.PgError
	if !errors.As(err, &known) && errors.As(err, &connecting) && errors.As(err, &answer) {
		return &codesage.Error{Kind: codesage.KindInvalid, Message: "the database refuses the connection: " + answer.Message + ": check DATABASE_URL", Err: err}
	}
	return err
}

// advise tells what can be done about an error of the driver; nil when it is
// none that the server's surroundings can cause.
func advise(err error) *advice {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return adviseAnswer(err, answer)
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connecting) || errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) || isCut(err) {
		return &advice{codesage.KindUnavailable, "the database can't be reached: check DATABASE_URL, and that PostgreSQL runs", err}
	}
	return nil
}

// isCut reports whether the server went away in the middle of a conversation.
func isCut(err error) bool {
	for _, cut := range []error{pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, cut) {
			return true
		}
	}
	return false
}

// otherSchema is said when a table or a column is missing.
const otherSchema = "the database's schema is not this program's: run `codesage migrate`, or restore the database from a backup"

// notPooled is said when something between speaks for PostgreSQL, which sign shows.
func notPooled(sign string) string {
	return "there is a pooler before the database (" + sign + "): DATABASE_URL must name PostgreSQL itself, as the processes pool their connections, and the time-outs by which one that stands still loses its locks are start-up parameters"
}

// onlyReads is the SQLSTATE of a write that a standby refuses, or a session by its
// settings.
const onlyReads = "25006"

// adviseAnswer is advise for what the server said, by its SQLSTATE.
func adviseAnswer(err error, answer *pgconn.PgError) *advice {
	say := func(kind codesage.Kind, words string) *advice { return &advice{kind, words, err} }
	code, class := answer.Code, answer.Code[:min(2, len(answer.Code))]
	switch {
	case code == "53100":
		return say(codesage.KindUnavailable, "the database server's disk is full: free some space there and try again")
	case code == "53300":
		return say(codesage.KindUnavailable, "the database server has no connection left: raise max_connections, or lower pool_max_conns in DATABASE_URL")
	case code == onlyReads:
		return say(codesage.KindUnavailable, "the database takes no writes: DATABASE_URL must name the primary, and default_transaction_read_only be off")
	case code == lockNotAvailable:
		return say(codesage.KindUnavailable, "another session of the database holds what is needed: look for it in pg_stat_activity")
	case code == "08P01", code == "42P05", code == "26000": // start-up parameters it does not know, prepared statements of others
		return say(codesage.KindInvalid, notPooled(answer.Message))
	case code == "25P03", code == "25P04", class == "08", class == "53", class == "57" && code != "57014", class == "58", code == "40001", code == "40P01":
		return say(codesage.KindUnavailable, "the database can't go on now")
	case class == "28":
		return say(codesage.KindInvalid, "the database refuses the user or the password: check both in DATABASE_URL, and pg_hba.conf")
	case class == "3D":
		return say(codesage.KindInvalid, "the database that DATABASE_URL names does not exist: check the name, or create it")
	case code == "42501":
		return say(codesage.KindInvalid, answer.Message+": make the role of DATABASE_URL the owner of the database and of what is in it, or GRANT CREATE ON SCHEMA to it")
	case class == "3F":
		return say(codesage.KindInvalid, answer.Message+": search_path must name a schema that is there, and the role of DATABASE_URL have USAGE and CREATE on it by GRANT")
	case code == "42P01", code == "42703":
		return say(codesage.KindInvalid, otherSchema)
	}
	return nil
}
