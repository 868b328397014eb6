package api

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"codesage/dashboard"
)

// The cookies of the dashboard: who is logged in, which the server's mark follows,
// and what its forms must send back to show that they are its own. Browsers send
// them to every port of a host: servers may share the second, not the first.
const (
	loginCookie = "codesage_login_"
	formCookie  = "codesage_form"
)

// byLogin is how log lines name the holder of a log-in.
const byLogin = "log-in"

// signedIn says what the log-in of a request's browser lets it do. It counts for
// reading, asked for by the server's own pages or by hand, and for their forms.
func (s *server) signedIn(c *gin.Context) Permission {
	r := c.Request
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reading && !c.GetBool(ownFormKey) {
		return MayNothing
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return MayNothing
	}
	if r.Header.Get("Origin") != "" && !ownOrigin(r) {
		return MayNothing
	}
	cookie, err := r.Cookie(s.sessions.cookie())
	if err != nil {
		return MayNothing
	}
	return s.sessions.check(cookie.Value)
}

// setCookie gives the browser a cookie that scripts and other sites don't get.
// Without an age it lasts as long as the browser runs.
func (s *server) setCookie(c *gin.Context, name, value string, age time.Duration) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: s.overTLS(c.Request), SameSite: http.SameSiteStrictMode,
	})
}

// overTLS reports whether the browser asks over https: of this server, or of a
// proxy before it, by the word of the proxy or of the browser itself.
func (s *server) overTLS(r *http.Request) bool {
	return r.TLS != nil ||
		strings.HasPrefix(r.Header.Get("Origin"), "https://") ||
		s.trusted(peer(r)) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// showLogin is the page that asks for the key.
func (s *server) showLogin(c *gin.Context) {
	if !s.keys.on {
		c.Redirect(http.StatusSeeOther, "/")
		return
	}
	s.show(c, http.StatusOK, dashboard.Login{To: localPath(c.Query("to"))})
}

// logIn checks a key, as every door does, and gives the browser a log-in for it.
func (s *server) logIn(c *gin.Context) {
	to := localPath(c.PostForm("to"))
	if !s.keys.on {
		c.Redirect(http.StatusSeeOther, to)
		return
	}
	ctx, w := c.Request.Context(), client(c)
	if left := s.limiter.blocked(ctx, w.addr); left > 0 {
		s.tooMany(c, left, tooManyKeys)
		return
	}
	w.may, w.by = s.keys.permission(strings.TrimSpace(c.PostForm("key")))
	if w.may == MayNothing {
		s.limiter.failed(ctx, w.addr)
		s.show(c, http.StatusUnauthorized, dashboard.Login{To: to, Error: "This is not the key of this server"})
		return
	}
	know(c, w)
	s.setCookie(c, s.sessions.cookie(), s.sessions.issue(w.may), sessionTime)
	c.Redirect(http.StatusSeeOther, to)
}

// logOut takes the log-in from the browser. Who has none is not told its name.
func (s *server) logOut(c *gin.Context) {
	if cookie, err := c.Request.Cookie(s.sessions.cookie()); err == nil {
		s.setCookie(c, cookie.Name, "", -time.Second)
	}
	c.Redirect(http.StatusSeeOther, "/login")
}

// localPath is a path of this server to go on to; / for anything else.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(to, "/") ||
		strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return u.RequestURI()
}
