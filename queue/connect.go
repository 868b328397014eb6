package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
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
	o, err := redis.ParseURL(address)
	if err != nil {
		var parsing *url.Error
		if errors.As(err, &parsing) {
			err = parsing.Err // the rest of it is the URL
		}
		return nil, codesage.Errorf(codesage.KindInvalid, "REDIS_URL: %v", err)
	}
	o.DialTimeout = dialTime
	o.ReadTimeout, o.WriteTimeout = answerTime, answerTime
	o.MaxRetries = 1
	o.ContextTimeoutEnabled = true
	redis.SetLogger(driverLog{log})
	return redis.NewClient(o), nil
}

// driverLog passes on what the driver has to say about its connections. It says
// the same again with every try.
type driverLog struct{ log *slog.Logger }

func (l driverLog) Printf(_ context.Context, format string, v ...any) {
	l.log.Debug("redis: " + fmt.Sprintf(format, v...))
}
