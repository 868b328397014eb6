package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/dashboard"
	"codesage/tools"
	"codesage/tools/repositories"
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
	page.SkipAfter = c.Query("after")
	page.Skips, page.SkipTotal, page.SkipNext, err = s.skips(ctx, repo, page.SkipAfter, skipRows)
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

// submitRepository adds a git URL.
func (s *server) submitRepository(c *gin.Context) {
	form := dashboard.AddForm{URL: strings.TrimSpace(c.PostForm("url")), Branch: strings.TrimSpace(c.PostForm("branch"))}
	args, faults := formArgs(addArgs, map[string]string{"url": form.URL, "branch": form.Branch})
	if faults != nil {
		s.refuseForm(c, form, http.StatusUnprocessableEntity, faults)
		return
	}
	repo, err := s.Catalog.Add(c.Request.Context(), args.String("url"), args.String("branch"), "")
	if err != nil {
		s.failForm(c, form, err, "url", "branch")
		return
	}
	added(c, repo)
}

// submitFolder indexes a local folder.
func (s *server) submitFolder(c *gin.Context) {
	form := dashboard.AddForm{Path: strings.TrimSpace(c.PostForm("path")), Session: strings.TrimSpace(c.PostForm("session"))}
	args, faults := formArgs(folderArgs, map[string]string{"path": form.Path, "session": form.Session})
	if faults != nil {
		s.refuseForm(c, form, http.StatusUnprocessableEntity, faults)
		return
	}
	repo, faults, err := s.indexFolder(c.Request.Context(), args)
	switch {
	case faults != nil:
		s.refuseForm(c, form, http.StatusUnprocessableEntity, faults)
	case codesage.KindOf(err) == codesage.KindExists:
		s.failForm(c, form, err, "session")
	case err != nil:
		s.failForm(c, form, err, "path", "session")
	default:
		added(c, repo)
	}
}

// formArgs checks the fields of a form as the API checks its arguments. Empty
// fields were not given.
func formArgs(schema tools.Schema, fields map[string]string) (tools.Arguments, []tools.Fault) {
	given := map[string]string{}
	for name, text := range fields {
		if text != "" {
			given[name] = text
		}
	}
	return schema.Parse(mustJSON(given))
}

// failForm shows the form again with the error at the field that it names, or at
// the first one.
func (s *server) failForm(c *gin.Context, form dashboard.AddForm, err error, fields ...string) {
	status, detail := s.translate(c, err)
	if status == statusGone || status == http.StatusInternalServerError {
		s.refuse(c, status, detail)
		return
	}
	at := fields[0]
	for _, f := range fields {
		if rest, ok := strings.CutPrefix(detail, f+": "); ok {
			at, detail = f, rest
		}
	}
	form.Errors = map[string]string{at: detail}
	s.repositoriesPage(c, status, form)
}

// refuseForm shows the form again with the faults at their fields.
func (s *server) refuseForm(c *gin.Context, form dashboard.AddForm, status int, faults []tools.Fault) {
	form.Errors = map[string]string{}
	for _, f := range faults {
		if len(f.Loc) > 0 {
			form.Errors[fmt.Sprint(f.Loc[0])] = f.Msg
		}
	}
	s.repositoriesPage(c, status, form)
}

// added goes back to the list, to the row of a repository.
func added(c *gin.Context, repo codesage.Repository) {
	c.Redirect(http.StatusSeeOther, "/#repository-"+formatID(repo.ID))
}

// submitReprocess starts a run.
func (s *server) submitReprocess(c *gin.Context) {
	s.change(c, func(ctx context.Context, id codesage.RepositoryID) error {
		_, _, err := s.Catalog.Reprocess(ctx, id, codesage.TriggerReprocess, false)
		return err
	})
}

// submitCancel ends the run that is going.
func (s *server) submitCancel(c *gin.Context) {
	s.change(c, func(ctx context.Context, id codesage.RepositoryID) error {
		_, err := s.Catalog.Cancel(ctx, id)
		return err
	})
}

// submitDelete removes a repository.
func (s *server) submitDelete(c *gin.Context) { s.change(c, s.Catalog.Remove) }

// change changes a repository and goes back to the page that asked.
func (s *server) change(c *gin.Context, do func(context.Context, codesage.RepositoryID) error) {
	repo, ok := s.pageRepository(c)
	if !ok {
		return
	}
	if err := do(c.Request.Context(), repo.ID); err != nil {
		s.fail(c, err)
		return
	}
	c.Redirect(http.StatusSeeOther, localPath(c.PostForm("to")))
}

// searchRows is how many hits a page shows.
const searchRows = 20

// showSearch is the page of search. What it finds, and what it counts to, is that
// of the tool search_code.
func (s *server) showSearch(c *gin.Context) {
	ctx := c.Request.Context()
	all, err := s.Store.ListRepositories(ctx)
	if err != nil {
		s.fail(c, err)
		return
	}
	page := dashboard.Search{
		Query: strings.TrimSpace(c.Query("q")), Repository: c.Query("repository"), Language: c.Query("language"), Type: c.Query("type"),
		Number: number(c.Query("page")), Repositories: all, Languages: s.languages(ctx, all),
	}
	if page.Query != "" {
		if !s.within(c, "RATE_LIMIT_AI", s.Limits.AI, 1) || !s.find(c, &page) {
			return
		}
	}
	s.show(c, http.StatusOK, page)
}

// languages are those to choose from; none when search does not answer.
func (s *server) languages(ctx context.Context, all []codesage.Repository) []string {
	var scope []codesage.Snapshot
	for _, r := range all {
		if snapshot, ok := r.Snapshot(); ok {
			scope = append(scope, snapshot)
		}
	}
	if s.Engine == nil || len(scope) == 0 {
		return nil
	}
	labels, err := s.Engine.Languages(ctx, scope)
	if err != nil {
		s.Log.Warn("list languages for the search page", "err", err)
	}
	return labels
}

// find puts into the page what search_code answers. When that is a fault of the
// server it answers the request and returns false.
func (s *server) find(c *gin.Context, page *dashboard.Search) bool {
	ctx := c.Request.Context()
	tool, ok := s.sets[repositories.Name].find("search_code")
	if !ok {
		s.refuse(c, http.StatusNotFound, "Not Found")
		return false
	}
	args, faults := tool.Arguments.Parse(mustJSON(gin.H{
		"query": page.Query, "repository": page.Repository, "language": page.Language, "entity_type": page.Type,
		"page": page.Number, "limit": searchRows,
	}))
	if faults != nil {
		s.called(ctx, tool.Name, "invalid", 0)
		page.Error = faultsText(faults)
		return true
	}
	answer, err := s.run(ctx, tool, tool.Name, args)
	if err != nil {
		s.fail(c, err)
		return false
	}
	if answer.IsError {
		page.Error = *answer.Error
		return true
	}
	found, ok := answer.Result.(repositories.Found)
	if !ok {
		s.fail(c, fmt.Errorf("search_code answered %T", answer.Result))
		return false
	}
	page.Asked, page.Total, page.Pages = true, found.TotalHits, found.Pages
	page.Hits = newHits(found.Results, page.Repositories)
	return true
}

// newHits are the hits as the page shows them.
func newHits(results []repositories.Hit, all []codesage.Repository) []dashboard.Hit {
	names := map[codesage.RepositoryID]string{}
	for _, r := range all {
		names[r.ID] = r.Name
	}
	hits := make([]dashboard.Hit, len(results))
	for i, h := range results {
		hits[i] = dashboard.Hit{
			Repository: h.In, In: names[h.In], Name: h.EntityName, Type: h.EntityType, Path: h.FilePath,
			Start: h.LineStart, End: h.LineEnd, Language: h.Language,
			Description: text(h.Description), Signature: text(h.Signature), Snippet: h.Snippet, URL: text(h.URL),
		}
	}
	return hits
}

// text is "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// faultsText words faults in one line.
func faultsText(faults []tools.Fault) string {
	parts := make([]string, len(faults))
	for i, f := range faults {
		parts[i] = f.Text()
	}
	return strings.Join(parts, "; ")
}
