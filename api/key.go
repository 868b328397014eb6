package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

// maxFailedKeys is how many wrong keys an address may send in a minute. After
// that its keys are not looked at, so that guessing a right one shows nothing.
const maxFailedKeys = 10

// keys are the configured keys, hashed so that comparing takes the same time
// whatever is sent.
type keys struct {
	write, read [sha256.Size]byte
	on, hasRead bool
}

func newKeys(a Access) keys {
	return keys{
		write: sha256.Sum256([]byte(a.Key)), on: a.Key != "",
		read: sha256.Sum256([]byte(a.ReadKey)), hasRead: a.ReadKey != "",
	}
}

// permission says what a key may do.
func (k keys) permission(key string) (may Permission, name string) {
	sum := sha256.Sum256([]byte(key))
	write := subtle.ConstantTimeCompare(sum[:], k.write[:]) == 1
	read := subtle.ConstantTimeCompare(sum[:], k.read[:]) == 1
	switch {
	case write && k.on:
		return MayWrite, "api key"
	case read && k.hasRead:
		return MayRead, "read key"
	}
	return MayNothing, ""
}

// sentKey is the key of a request: X-API-Key, or a Bearer token.
func sentKey(r *http.Request) string {
	if key := r.Header.Get("X-API-Key"); key != "" {
		return key
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// needs lets a request through when its caller may do this: 401 without a good
// key, 403 with one that only reads.
func (s *server) needs(what Permission) gin.HandlerFunc {
	return func(c *gin.Context) { s.check(c, what, sentKey(c.Request)) }
}

// needsLogin is for pages that a browser shows: the key also comes as the
// password of HTTP basic authentication, and the browser is asked for it.
func (s *server) needsLogin(c *gin.Context) {
	key := sentKey(c.Request)
	if _, password, ok := c.Request.BasicAuth(); ok && key == "" {
		key = password
	}
	c.Header("WWW-Authenticate", `Basic realm="CodeSage", charset="UTF-8"`)
	s.check(c, MayRead, key)
}

// check finds out what the caller may do and goes on or ends the request.
func (s *server) check(c *gin.Context, what Permission, key string) {
	w := client(c)
	if !s.keys.on {
		w.may = MayWrite
	} else if key != "" {
		if left := s.limiter.blocked(c.Request.Context(), w.addr); left > 0 {
			s.tooMany(c, left, tooManyKeys)
			return
		}
		w.may, w.by = s.keys.permission(key)
		if w.may == MayNothing {
			s.limiter.failed(c.Request.Context(), w.addr)
		}
	}
	if w.may == MayNothing {
		if w.may = s.signedIn(c); w.may != MayNothing {
			w.by = byLogin
		}
	}
	know(c, w)
	switch {
	case w.may == MayNothing:
		if c.FullPath() == "/mcp" {
			c.Header("WWW-Authenticate", `Bearer realm="CodeSage"`)
		}
		s.refuse(c, http.StatusUnauthorized, "Invalid or missing API key")
	case w.may < what:
		s.refuse(c, http.StatusForbidden, readOnly)
	default:
		c.Writer.Header().Del("WWW-Authenticate")
		c.Next()
	}
}

// tooManyKeys tells whoever guesses keys.
const tooManyKeys = "Too many failed API keys from this address; wait and try again with the right one"

// readOnly tells the holder of the read key why a change was refused.
const readOnly = "This key only reads; a change needs CODESAGE_API_KEY"

// tooMany answers 429.
func (s *server) tooMany(c *gin.Context, seconds int, detail string) {
	c.Header("Retry-After", strconv.Itoa(max(seconds, 1)))
	s.refuse(c, http.StatusTooManyRequests, detail)
}
