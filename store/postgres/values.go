package postgres

import (
	"crypto/md5"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// escaped is a string in a TEXT column, which can't hold NUL: NUL is written as
// 01 01, and 01 as 01 02. Order by bytes, prefixes and equality stay what they
// are. Bytes that are not UTF-8 are replaced.
type escaped string

var (
	escaper   = strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02")
	unescaper = strings.NewReplacer("\x01\x01", "\x00", "\x01\x02", "\x01")
)

// escape returns a string as a column has it.
func escape(s string) string {
	return escaper.Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

// TextValue implements pgtype.TextValuer.
func (e escaped) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: escape(string(e)), Valid: true}, nil
}

// ScanText implements pgtype.TextScanner.
func (e *escaped) ScanText(v pgtype.Text) error {
	*e = escaped(unescaper.Replace(v.String))
	return nil
}

// pathHash is what md5 makes of a path in its column.
func pathHash(path string) string { return fmt.Sprintf("%x", md5.Sum([]byte(escape(path)))) }

// moment is a time in a column; the zero time is NULL.
type moment time.Time

// TimestamptzValue implements pgtype.TimestamptzValuer.
func (m moment) TimestamptzValue() (pgtype.Timestamptz, error) {
	return pgtype.Timestamptz{Time: time.Time(m), Valid: !time.Time(m).IsZero()}, nil
}

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (m *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	*m = moment(time.Time{})
	if v.Valid {
		*m = moment(v.Time.UTC())
	}
	return nil
}
