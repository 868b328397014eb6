package api

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// sessionTime is how long a log-in of the dashboard lasts.
const sessionTime = 24 * time.Hour

// A session token is permission (1 byte), end (8 bytes, Unix seconds), nonce and
// the MAC of these. It is all there is of a session: every API process of a team
// accepts it, and another key ends it.
const (
	sessionNonce = 16
	sessionBody  = 1 + 8 + sessionNonce
	sessionSize  = sessionBody + sha256.Size
)

// sessionKeySteps make guessing a key by the token that it signed slow.
const sessionKeySteps = 200_000

// sessions signs and checks the log-ins of the dashboard.
type sessions struct {
	secrets map[Permission]func() []byte // made when they are first needed: that takes a while
	now     func() time.Time
}

func newSessions(a Access, now func() time.Time) *sessions {
	s := &sessions{secrets: map[Permission]func() []byte{}, now: now}
	for may, key := range map[Permission]string{MayRead: a.ReadKey, MayWrite: a.Key} {
		if a.Key == "" || key == "" {
			continue
		}
		s.secrets[may] = sync.OnceValue(func() []byte {
			secret, err := pbkdf2.Key(sha256.New, key, []byte("codesage dashboard session"), sessionKeySteps, sha256.Size)
			if err != nil {
				panic(err) // only of settings that are constant here
			}
			return secret
		})
	}
	return s
}

// cookie is the name of the cookie with the token: another one for each key, so
// that servers on one host don't end each other's log-ins. Only who knows the key
// may see it: keys can be guessed by it, as slowly as by a token.
func (s *sessions) cookie() string {
	if s.secrets[MayWrite] == nil {
		return loginCookie
	}
	return loginCookie + hex.EncodeToString(s.mac(MayWrite, []byte("cookie"))[:8])
}

// issue returns a token with which a browser may do this for a day.
func (s *sessions) issue(may Permission) (token string) {
	body := make([]byte, 9, sessionSize)
	body[0] = byte(may)
	binary.BigEndian.PutUint64(body[1:], uint64(s.now().Add(sessionTime).Unix()))
	body = append(body, newNonce()...)
	return base64.RawURLEncoding.EncodeToString(append(body, s.mac(may, body)...))
}

// check says what the holder of a token may do.
func (s *sessions) check(token string) Permission {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != sessionSize {
		return MayNothing
	}
	body, mac := raw[:sessionBody], raw[sessionBody:]
	may := Permission(body[0])
	if s.secrets[may] == nil || !hmac.Equal(mac, s.mac(may, body)) {
		return MayNothing
	}
	if end := binary.BigEndian.Uint64(body[1:9]); uint64(max(s.now().Unix(), 0)) >= end {
		return MayNothing
	}
	return may
}

func (s *sessions) mac(may Permission, body []byte) []byte {
	h := hmac.New(sha256.New, s.secrets[may]())
	h.Write(body)
	return h.Sum(nil)
}

// newNonce returns bytes that nobody can guess.
func newNonce() []byte {
	nonce := make([]byte, sessionNonce)
	_, _ = rand.Read(nonce) // never fails
	return nonce
}
