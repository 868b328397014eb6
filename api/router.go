package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// getOrHead are the methods of probes.
var getOrHead = []string{http.MethodGet, http.MethodHead}

// routes is the whole route table.
func (s *server) routes() http.Handler {
	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.UseRawPath, r.UnescapePathValues = true, true
	_ = r.SetTrustedProxies(nil) // client addresses come from guard.go

	r.Use(s.identify, s.observe, s.recover, s.timeBody, s.timeAnswer, s.guard)
	r.NoRoute(s.notFound)
	r.NoMethod(s.wrongMethod)

	var (
		read   = s.needs(MayRead)
		write  = s.needs(MayWrite)
		caller = s.needs(MayRead) // a tool call: the tool says whether it writes
		login  = s.needsLogin
		ai     = s.limit("RATE_LIMIT_AI", s.Limits.AI)
		usual  = s.limit("RATE_LIMIT_DEFAULT", s.Limits.Default)
		soon   = s.bounded // calls of tools have bounds of their own
	)

	r.Match(getOrHead, "/healthz", s.alive)
	r.Match(getOrHead, "/readyz", s.ready)
	r.GET("/metrics", login, s.showMetrics)
	r.GET("/docs", s.docs)
	r.GET("/openapi.json", s.openAPI)
	r.Any("/mcp", caller, s.streamableHTTP)
	r.GET("/monitoring", login, s.monitoring)
	r.GET("/monitoring/*path", login, s.monitoring)

	// The pages of the dashboard, and what their forms do.
	r.Match(getOrHead, "/", read, usual, soon, s.showRepositories)
	r.Match(getOrHead, "/repositories", s.toRepositories)
	r.Match(getOrHead, "/folders", s.toRepositories)
	r.Match(getOrHead, "/repositories/:id", read, usual, soon, s.showRepository)
	r.Match(getOrHead, "/repositories/:id/delete", write, usual, soon, s.showDelete)
	r.Match(getOrHead, "/search", read, usual, soon, s.showSearch)
	r.Match(getOrHead, "/login", usual, s.showLogin)
	r.Match(getOrHead, "/assets/:name", s.asset)
	r.POST("/login", s.ownForm, usual, soon, s.logIn)
	r.POST("/logout", s.ownForm, usual, soon, s.logOut)
	r.POST("/repositories", s.ownForm, write, usual, soon, s.submitRepository)
	r.POST("/folders", s.ownForm, write, usual, soon, s.submitFolder)
	r.POST("/repositories/:id/reprocess", s.ownForm, write, usual, soon, s.submitReprocess)
	r.POST("/repositories/:id/cancel", s.ownForm, write, usual, soon, s.submitCancel)
	r.POST("/repositories/:id/delete", s.ownForm, write, usual, soon, s.submitDelete)

	v1 := r.Group("/api/v1")

	v1.GET("/ai/mcp/capabilities", s.capabilities)
	v1.GET("/ai/mcp/tools", s.listTools)
	v1.POST("/ai/mcp/tools/call", caller, ai, s.callTool)
	v1.GET("/ai/mcp/resources", s.listResources)
	v1.GET("/ai/mcp/resources/read", read, ai, soon, s.readResource)
	v1.GET("/ai/search/suggestions", read, usual, soon, s.suggest)

	v1.GET("/repositories", read, usual, soon, s.listRepositories)
	v1.POST("/repositories", write, usual, soon, s.addRepository)
	v1.GET("/repositories/:id", read, usual, soon, s.getRepository)
	v1.DELETE("/repositories/:id", write, usual, soon, s.deleteRepository)
	v1.POST("/repositories/:id/reprocess", write, usual, soon, s.reprocess)
	v1.POST("/repositories/:id/cancel", write, usual, soon, s.cancel)
	v1.GET("/repositories/:id/runs", read, usual, soon, s.listRuns)
	v1.GET("/repositories/:id/skipped", read, usual, soon, s.listSkipped)
	v1.GET("/repositories/:id/events", read, usual, s.repositoryEvents)
	v1.GET("/events", read, usual, s.allEvents)
	v1.POST("/folders", write, usual, soon, s.addFolder)
	v1.POST("/webhooks/:host", s.webhook)

	return r
}
