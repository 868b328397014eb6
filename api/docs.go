package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"

	"github.com/gin-gonic/gin"
)

// openAPIText describes the routes. A test holds it against the router.
//
//go:embed openapi.json
var openAPIText []byte

//go:embed docs.html
var docsPage []byte

// openAPI answers with the description of the API.
func (s *server) openAPI(c *gin.Context) { c.Data(http.StatusOK, "application/json", openAPIText) }

// docs is a page that shows the description. It loads nothing from elsewhere.
func (s *server) docs(c *gin.Context) {
	c.Header("Content-Security-Policy", "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src '"+scriptHash(docsPage)+"'; "+
		"form-action 'none'; frame-ancestors 'none'; base-uri 'none'")
	c.Header("X-Frame-Options", "DENY")
	c.Data(http.StatusOK, "text/html; charset=utf-8", docsPage)
}

// scriptHash names a page's only inline script for its content security policy.
func scriptHash(page []byte) string {
	_, rest, _ := bytes.Cut(page, []byte("<script>"))
	script, _, _ := bytes.Cut(rest, []byte("</script>"))
	sum := sha256.Sum256(script)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
