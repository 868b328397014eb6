package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/dashboard"
)

// show answers with a page of the dashboard.
func (s *server) show(c *gin.Context, status int, page dashboard.Page) {
	w, path := client(c), c.Request.URL.Path
	if c.Request.Method == http.MethodPost {
		path = "/" // a form that is shown again
	}
	frame := dashboard.Frame{
		Path: path, Token: s.formToken(c),
		MayRead: w.may >= MayRead, MayWrite: w.may >= MayWrite,
		LoggedIn: w.by == byLogin, Monitoring: s.Monitoring != nil,
	}
	if err := s.pages.Render(c.Writer, status, frame, page); err != nil {
		s.Log.Error("request failed", "request", requestID(c), "path", c.FullPath(), "err", err)
		c.AbortWithStatus(http.StatusInternalServerError)
	}
}

// wantsPage reports whether a person's browser asks, and for no part of the API:
// errors are pages then.
func wantsPage(r *http.Request) bool {
	return !isAPI(r.URL.Path) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// refusePage ends a request with a page that says why. Who is not logged in is
// asked to.
func (s *server) refusePage(c *gin.Context, status int, p problem) {
	c.Abort()
	if status == http.StatusUnauthorized {
		to := "/"
		if c.Request.Method != http.MethodPost {
			to = c.Request.URL.RequestURI()
		}
		c.Redirect(http.StatusSeeOther, "/login?"+url.Values{"to": {to}}.Encode())
		return
	}
	s.show(c, status, dashboard.Error{Status: status, Detail: p.Detail, Request: p.RequestID})
}

// asset answers with a file that pages load.
func (s *server) asset(c *gin.Context) {
	if !s.pages.Asset(c.Writer, c.Param("name")) {
		s.refuse(c, http.StatusNotFound, "Not Found")
	}
}

// showRepositories is the page of all repositories.
func (s *server) showRepositories(c *gin.Context) {
	s.repositoriesPage(c, http.StatusOK, dashboard.AddForm{})
}

// toRepositories leads whoever loads the address of a form to its page.
func (s *server) toRepositories(c *gin.Context) { c.Redirect(http.StatusSeeOther, "/") }

func (s *server) repositoriesPage(c *gin.Context, status int, form dashboard.AddForm) {
	all, err := s.Store.ListRepositories(c.Request.Context())
	if err != nil {
		s.fail(c, err)
		return
	}
	form.Folders = s.Folders
	s.show(c, status, dashboard.NewRepositories(all, bounded(c.Query("filter")), number(c.Query("page")), form))
}

// number reads the number of a page of a list; what is none is the first.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// pageRepository is pathRepository for pages, whose ids are numbers.
func (s *server) pageRepository(c *gin.Context) (codesage.Repository, bool) {
	if !digits(c.Param("id")) {
		s.refuse(c, http.StatusNotFound, "Not Found")
		return codesage.Repository{}, false
	}
	return s.pathRepository(c)
}

// skipRows is how many skipped files a page shows.
const skipRows = 100

// showRepository is the page of one repository.
func (s *server) showRepository(c *gin.Context) {
	repo, ok := s.pageRepository(c)
	if !ok {
		return
	}
	ctx := c.Request.Context()
	runs, err := s.Store.ListRuns(ctx, repo.ID, codesage.KeepRuns)
	if err != nil {
		s.fail(c, err)
		return
	}
	page := dashboard.NewRepository(repo)
	page.Runs = dashboard.NewRuns(runs)
	var after string
	for _, path := range c.QueryArray("after") {
		if path != "" {
			after = strings.ToValidUTF8(path, "\ufffd")
			page.SkipTrail = append(page.SkipTrail, after)
		}
	}
	page.Skips, page.SkipTotal, page.SkipNext, err = s.skips(ctx, repo, after, skipRows)
	if err != nil {
		s.fail(c, err)
		return
	}
	s.show(c, http.StatusOK, page)
}

// showDelete asks whether a repository is to be deleted.
func (s *server) showDelete(c *gin.Context) {
	if repo, ok := s.pageRepository(c); ok {
		s.show(c, http.StatusOK, dashboard.NewDelete(repo))
	}
}
