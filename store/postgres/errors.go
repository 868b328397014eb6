package postgres

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"codesage"
)

// explain gives an error of the driver its kind, and words for those that a
// person can do something about. What the driver says of hosts and users is its
// cause, for the log. Others pass as they are.
func explain(err error) error {
	var known *codesage.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return explainAnswer(err, answer.Code)
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connecting) || errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) || isCut(err) {
		return unavailable(err, "the database can't be reached: check DATABASE_URL, and that PostgreSQL runs")
	}
	return err
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

// explainAnswer is explain for what the server said, by its SQLSTATE.
func explainAnswer(err error, code string) error {
	class := code[:min(2, len(code))]
	switch {
	case code == "53100":
		return unavailable(err, "the database server's disk is full: free some space there and try again")
	case code == "53300":
		return unavailable(err, "the database server has no connection left: raise max_connections, or lower pool_max_conns in DATABASE_URL")
	case code == "25006":
		return unavailable(err, "the database server only reads: DATABASE_URL must name the primary")
	case class == "08", class == "53", class == "57" && code != "57014", class == "58", code == "40001", code == "40P01":
		return unavailable(err, "the database is not available; try again")
	case class == "28", class == "3D":
		return unavailable(err, "the database refuses the connection: check DATABASE_URL")
	}
	return err
}

// unavailable is a KindUnavailable with words for people and a cause for the log.
func unavailable(cause error, message string) error {
	return &codesage.Error{Kind: codesage.KindUnavailable, Message: message, Err: cause}
}
