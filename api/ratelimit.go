package api

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"codesage/trace"
)

// window is the length of a rate limit's window. A client's window begins with
// its first request.
const window = 60 * time.Second

// counter counts requests in windows. There are two: one in this process, one
// in Redis.
type counter interface {
	// add counts n more under a key and returns the count of its window and the
	// rest of the window's time. n may be 0.
	add(ctx context.Context, key string, n int) (count int, left time.Duration, err error)
}

// limiter holds the limits. When Redis is away it counts in the process: a
// limit that holds for one process is better than none, and than no service.
type limiter struct {
	shared counter // nil = only this process
	local  counter
	log    *slog.Logger
	now    func() time.Time
	away   atomic.Int64 // until when the shared counter is not asked, in Unix nanoseconds
}

// awayTime is how long Redis is left alone after it did not answer, so that not
// every request waits for it.
const awayTime = 5 * time.Second

func newLimiter(d Deps) *limiter {
	l := &limiter{local: newMemoryCounter(d.Now), log: d.Log, now: d.Now}
	if d.Redis != nil {
		l.shared = redisCounter{d.Redis}
	}
	return l
}

// add counts n more under a key and returns the count of its window and the
// seconds that are left of it.
func (l *limiter) add(ctx context.Context, key string, n int) (count, seconds int) {
	if l.shared != nil && l.now().UnixNano() >= l.away.Load() {
		count, left, err := l.shared.add(ctx, key, n)
		if err == nil {
			return count, wholeSeconds(left)
		}
		if ctx.Err() == nil {
			l.away.Store(l.now().Add(awayTime).UnixNano())
			trace.Log(ctx, l.log).Warn("rate limits are counted in this process while Redis is away", "err", err)
		}
	}
	count, left, _ := l.local.add(ctx, key, n)
	return count, wholeSeconds(left)
}

func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// blocked returns for how many seconds more an address may send no keys.
func (l *limiter) blocked(ctx context.Context, addr string) (seconds int) {
	if count, left := l.add(ctx, "key:"+addr, 0); count >= maxFailedKeys {
		return max(left, 1)
	}
	return 0
}

// failed counts a wrong key.
func (l *limiter) failed(ctx context.Context, addr string) { l.add(ctx, "key:"+addr, 1) }

// limit lets an address ask so many times a minute. The variable is the one
// that raises it. 0 = no limit.
func (s *server) limit(variable string, most int) gin.HandlerFunc {
	return func(c *gin.Context) {
		if s.within(c, variable, most, 1) {
			c.Next()
		}
	}
}

// within counts n requests of the caller, and answers 429 when they are too
// many.
func (s *server) within(c *gin.Context, variable string, most, n int) bool {
	if most <= 0 || n == 0 {
		return true
	}
	count, left := s.limiter.add(c.Request.Context(), variable+":"+client(c).addr, n)
	if count <= most {
		return true
	}
	s.tooMany(c, left, fmt.Sprintf("Rate limit reached: %d requests a minute; %s raises it", most, variable))
	return false
}

// maxCounted is how many clients a process counts. Beyond it the windows that
// end first are forgotten.
const maxCounted = 10_000

// memoryCounter counts in this process.
type memoryCounter struct {
	now func() time.Time

	mu    sync.Mutex
	seen  map[string]*counted
	order []string // keys by the end of their window; all windows are as long
}

type counted struct {
	n   int
	end time.Time
}

func newMemoryCounter(now func() time.Time) *memoryCounter {
	return &memoryCounter{now: now, seen: map[string]*counted{}}
}

func (m *memoryCounter) add(_ context.Context, key string, n int) (int, time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.forget(now)
	w := m.seen[key]
	if w == nil {
		if n == 0 {
			return 0, 0, nil
		}
		w = &counted{end: now.Add(window)}
		m.seen[key] = w
		m.order = append(m.order, key)
	}
	w.n += n
	return w.n, w.end.Sub(now), nil
}

// forget drops windows that are over, and the oldest when there are too many.
func (m *memoryCounter) forget(now time.Time) {
	for len(m.order) > 0 {
		oldest := m.seen[m.order[0]]
		if now.Before(oldest.end) && len(m.order) < maxCounted {
			return
		}
		delete(m.seen, m.order[0])
		m.order = m.order[1:]
	}
}

// redisCounter counts in Redis, for all processes that use it.
type redisCounter struct{ client redis.UniversalClient }

// countScript adds to a key and starts its window with the first count. A key
// that has lost its expiry gets a new one.
var countScript = redis.NewScript(`
local n = tonumber(ARGV[1])
local count
if n == 0 then
  count = tonumber(redis.call('GET', KEYS[1]) or '0')
else
  count = redis.call('INCRBY', KEYS[1], n)
end
local left = redis.call('PTTL', KEYS[1])
if count > 0 and left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {count, left}`)

// redisWait bounds how long a request waits for its count.
const redisWait = time.Second

func (r redisCounter) add(ctx context.Context, key string, n int) (int, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, redisWait)
	defer cancel()
	got, err := countScript.Run(ctx, r.client, []string{"codesage:rate:" + key}, n, window.Milliseconds()).Int64Slice()
	if err != nil {
		return 0, 0, fmt.Errorf("count in redis: %w", err)
	}
	if len(got) != 2 {
		return 0, 0, fmt.Errorf("count in redis: %d values", len(got))
	}
	return int(got[0]), time.Duration(max(got[1], 0)) * time.Millisecond, nil
}
