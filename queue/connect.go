package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"codesage"
)

// How long a Redis that does not answer may hold a caller up. A dead host is
// noticed within twice dialTime.
const (
	dialTime   = 2 * time.Second
	answerTime = 3 * time.Second
)

// Connect returns a client of the Redis at a redis:// or rediss:// URL, which
// the caller closes. It sends nothing: a Redis that is away is met by the first
// command, and one that comes back is found again. The error is KindInvalid and
// never shows the password.
func Connect(address string, log *slog.Logger) (redis.UniversalClient, error) {
	o, err := read(address)
	if err != nil {
		return nil, codesage.Errorf(codesage.KindInvalid, "REDIS_URL: %v", err)
	}
	o.DialTimeout = dialTime
	o.ReadTimeout, o.WriteTimeout = answerTime, answerTime
	o.MaxRetries = 1
	o.ContextTimeoutEnabled = true
	redis.SetLogger(driverLog{log})
	return redis.NewClient(o), nil
}

// read reads a URL. It refuses one of which a part of the password may have been
// taken for something else, such as the host, which the log and errors show.
func read(address string) (*redis.Options, error) {
	u, err := url.Parse(address)
	if at := strings.Count(address, "@"); err != nil || at > 1 || at == 1 && u.User == nil {
		return nil, errors.New("must be a URL; percent-encode the signs of its password: # is %23, / is %2F, ? is %3F, @ is %40, % is %25")
	}
	return redis.ParseURL(address)
}

// Host returns the place where a URL says that Redis is, for the log; empty when
// a part of the password might be in it.
func Host(address string) string {
	o, err := read(address)
	if err != nil {
		return ""
	}
	return o.Addr
}

// refusals are how the answers begin, after ERR, by which Redis says that
// REDIS_URL is not right: no waiting helps.
var refusals = []string{"NOAUTH", "WRONGPASS", "NOPERM", "DENIED", "AUTH", "invalid password", "DB index", "invalid DB index"}

// CheckAccess fails with KindInvalid when Redis answers and refuses the user, the
// password or the database. One that is away is none of its business.
func CheckAccess(ctx context.Context, rdb redis.UniversalClient) error {
	err := rdb.Ping(ctx).Err()
	for _, refusal := range refusals {
		if redis.HasErrorPrefix(err, refusal) {
			return &codesage.Error{
				Kind:    codesage.KindInvalid,
				Message: fmt.Sprintf("Redis refuses the connection: check user, password and database in REDIS_URL (it says %q)", err),
				Err:     err,
			}
		}
	}
	return nil
}

// driverLog passes on what the driver has to say about its connections. It says
// the same again with every try.
type driverLog struct{ log *slog.Logger }

func (l driverLog) Printf(_ context.Context, format string, v ...any) {
	l.log.Debug("redis: " + fmt.Sprintf(format, v...))
}
