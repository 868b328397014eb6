package api

import (
	"net"
	"net/http"

	"github.com/gin-gonic/gin"
)

// monitoring is the queue's web UI. It is served for reading only.
func (s *server) monitoring(c *gin.Context) {
	if s.Monitoring == nil {
		s.refuse(c, http.StatusNotFound, "Not Found")
		return
	}
	if c.Request.URL.Path == "/monitoring" {
		c.Redirect(http.StatusFound, "/monitoring/")
		return
	}
	s.Monitoring.ServeHTTP(c.Writer, c.Request)
}

// webhook passes a push event on. The handler checks the signature, which
// stands for the key.
func (s *server) webhook(c *gin.Context) {
	switch c.Param("host") {
	case "github", "gitlab", "bitbucket":
	default:
		s.refuse(c, http.StatusNotFound, "Not Found")
		return
	}
	if s.Webhooks == nil {
		s.refuse(c, http.StatusNotFound, "Not Found")
		return
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxWebhookBody)
	c.Request.RemoteAddr = net.JoinHostPort(client(c).addr, "0") // as trusted proxies tell it
	s.Webhooks.ServeHTTP(c.Writer, c.Request)
}

// maxWebhookBody is the size at which GitHub itself gives a delivery up.
const maxWebhookBody = 25 << 20
