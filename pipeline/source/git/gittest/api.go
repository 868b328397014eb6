package gittest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// serveAPI answers the calls of GitHub's REST API that concern repositories and
// branches, from the repositories on github.com.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 4)
	if len(parts) < 3 || parts[0] != "repos" {
		apiError(w, http.StatusNotFound, "Not Found")
		return
	}
	path := parts[1] + "/" + parts[2]
	if token := s.token("github.com", path); token != "" && r.Header.Get("Authorization") != "Bearer "+token {
		apiError(w, http.StatusNotFound, "Not Found")
		return
	}
	repo := &Repo{tb: s.tb, server: s, dir: filepath.Join(s.root, "github.com", parts[1], parts[2]+".git")}
	if _, err := os.Stat(repo.dir); err != nil {
		apiError(w, http.StatusNotFound, "Not Found")
		return
	}
	switch {
	case len(parts) == 3:
		head := strings.TrimSpace(repo.Git("symbolic-ref", "HEAD"))
		answer(w, map[string]any{"full_name": path, "default_branch": strings.TrimPrefix(head, "refs/heads/")})
	case strings.HasPrefix(parts[3], "git/ref/heads/"):
		repo.serveRef(w, strings.TrimPrefix(parts[3], "git/ref/heads/"))
	default:
		apiError(w, http.StatusNotFound, "Not Found")
	}
}

// serveRef answers with the commit of a branch.
func (r *Repo) serveRef(w http.ResponseWriter, branch string) {
	if strings.TrimSpace(r.Git("for-each-ref", "--count=1")) == "" {
		apiError(w, http.StatusConflict, "Git Repository is empty.")
		return
	}
	sha := r.Head(branch)
	if sha == "" {
		apiError(w, http.StatusNotFound, "Not Found")
		return
	}
	answer(w, map[string]any{"ref": "refs/heads/" + branch, "object": map[string]any{"type": "commit", "sha": sha}})
}

// RateLimited is GitHub's API when the limit is reached for some time.
func RateLimited(wait time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(wait).Unix()))
		apiError(w, http.StatusForbidden, "API rate limit exceeded")
	})
}

// Status is a host that answers everything with one status.
func Status(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A host that sends back what it was sent: nothing of it may get out.
		apiError(w, code, "you sent "+r.Header.Get("Authorization"))
	})
}

func apiError(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
