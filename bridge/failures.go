package bridge

import (
	"errors"
	"fmt"
	"net/http"

	"codesage/api/client"
	"codesage/mcp"
)

// words words failures to ask the API, as the contract's table "How failures
// reach Claude" has them. Those without an answer of the server are worded by
// the client's error types.
type words struct {
	hasKey  bool
	keyFile string
}

const (
	proxyRefused = "The proxy in front of CodeSage rejected the login (401); check the user and password (CODESAGE_BASIC_AUTH_USER and its Keychain entry)"
	keyRefused   = "CodeSage backend rejected the API key (401); check CODESAGE_API_KEY in the MCP server config"
	noKey        = "No API key is configured; set CODESAGE_API_KEY in the MCP server's env in your MCP client's config (for Claude Desktop, run `make install-claude`). For a local backend the launcher reads the key from %s when the config leaves it empty, so this means that file has no key either"
	rateLimited  = "CodeSage backend rate limit exceeded (429); wait a moment and retry"
	serverDown   = "CodeSage backend error (%d); the backend or the proxy in front of it may be down"
)

// of words a failure of a call, or of a read.
func (w words) of(name string, err error) string {
	var status *client.StatusError
	if !errors.As(err, &status) {
		return err.Error()
	}
	switch code := status.Status; {
	case code == http.StatusUnauthorized && status.Basic:
		return proxyRefused
	case code == http.StatusUnauthorized && !w.hasKey:
		file := w.keyFile
		if file == "" {
			file = "the file api_key in the data folder"
		}
		return fmt.Sprintf(noKey, file)
	case code == http.StatusUnauthorized:
		return keyRefused
	case code == http.StatusForbidden:
		return fmt.Sprintf("CodeSage refused the request (403): %s. If the backend runs on another host, add that host to ALLOWED_HOSTS on the backend and check MCP_SERVER_URL.", status.Detail)
	case code == http.StatusNotFound:
		return fmt.Sprintf("The backend returned 404 for %s; check that MCP_SERVER_URL points at the backend root (no /api/v1).", status.Path)
	case code == http.StatusUnprocessableEntity:
		return fmt.Sprintf("Invalid arguments for '%s' (422): %s", name, status.Detail)
	case code == http.StatusTooManyRequests:
		return rateLimited
	case code >= 500 && !status.JSON:
		return fmt.Sprintf(serverDown, code)
	case code >= 500 && status.RequestID == "":
		return fmt.Sprintf("CodeSage backend error (%d): %s", code, status.Detail)
	case code >= 500:
		return fmt.Sprintf("CodeSage backend error (%d): %s (request %s)", code, status.Detail, status.RequestID)
	}
	return fmt.Sprintf("Unexpected response from CodeSage backend (%d): %s", status.Status, status.Detail)
}

// resource makes the JSON-RPC error of a read that failed: invalid params for
// what isn't there, else an internal error.
func (w words) resource(uri string, err error) error {
	var status *client.StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound && status.JSON {
		return mcp.Errorf(mcp.CodeInvalidParams, mcp.ResourceNotFound, status.Detail)
	}
	return mcp.Errorf(mcp.CodeInternal, "%s", w.of(uri, err))
}
