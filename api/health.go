package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"codesage/trace"
)

// checkTime is how long a part may take to answer /readyz.
const checkTime = 3 * time.Second

// alive says that the process answers.
func (s *server) alive(c *gin.Context) { answer(c, http.StatusOK, gin.H{"status": "ok"}) }

// ready says whether the parts answer, and names those that don't. Why they
// don't is for the log.
func (s *server) ready(c *gin.Context) {
	checks := map[string]func(context.Context) error{"store": s.Store.Ping}
	if s.Engine != nil {
		checks["search"] = s.Engine.Ping
	}
	for name, check := range s.Checks {
		checks[name] = check
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), checkTime)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	parts, status, word := map[string]string{}, http.StatusOK, "ok"
	for name, check := range checks {
		all.Go(func() {
			err := check(ctx)
			mu.Lock()
			defer mu.Unlock()
			parts[name] = "ok"
			if err != nil {
				parts[name], status, word = "unavailable", http.StatusServiceUnavailable, "unavailable"
				trace.Log(ctx, s.Log).Warn("not ready", "part", name, "err", err)
			}
		})
	}
	all.Wait()
	answer(c, status, gin.H{"status": word, "parts": parts})
}
