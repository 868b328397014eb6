package api

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/dashboard"
	"codesage/tools"
)

// maxForm is the size of a form in bytes.
const maxForm = 64 << 10

// ownFormKey marks a request that came from a form of the dashboard.
const ownFormKey = "codesage.own-form"

// ownForm lets a form through that a page of this server showed this browser,
// and reads it: the browser says that the page is of this server, and the form
// holds what is in a cookie that other sites can neither read nor send.
func (s *server) ownForm(c *gin.Context) {
	r := c.Request
	r.Body = http.MaxBytesReader(c.Writer, r.Body, maxForm)
	var large *http.MaxBytesError
	switch err := r.ParseForm(); {
	case errors.As(err, &large):
		s.refuse(c, http.StatusRequestEntityTooLarge, "The form is too large")
		return
	case err != nil:
		s.refuse(c, http.StatusBadRequest, "The form could not be read")
		return
	}
	cookie, err := r.Cookie(formCookie)
	if err != nil || cookie.Value == "" || !ownOrigin(r) ||
		subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(r.PostForm.Get("token"))) != 1 {
		s.refuse(c, http.StatusForbidden, "This form was not sent by a page of this server, or your browser keeps no cookies; load the page again and send it from there")
		return
	}
	c.Set(ownFormKey, true)
	c.Next()
}

// formToken is what the forms of a page send back. The browser gets it as a
// cookie as well.
func (s *server) formToken(c *gin.Context) string {
	if cookie, err := c.Request.Cookie(formCookie); err == nil && len(cookie.Value) >= sessionNonce && len(cookie.Value) <= 100 {
		return cookie.Value
	}
	token := base64.RawURLEncoding.EncodeToString(newNonce())
	s.setCookie(c, formCookie, token, 0)
	return token
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
		form.There = repo
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
	form.There = repo
	switch {
	case faults != nil:
		s.refuseForm(c, form, http.StatusUnprocessableEntity, faults)
	case codesage.KindOf(err) == codesage.KindExists:
		s.failForm(c, form, codesage.Errorf(codesage.KindExists,
			"session '%s' is %s already; choose another session id, or reprocess it on its page:", repo.Session, tools.OneLine(cmp.Or(repo.URL, repo.Path))), "session")
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
	s.formAgain(c, status, form)
}

// refuseForm shows the form again with the faults at their fields.
func (s *server) refuseForm(c *gin.Context, form dashboard.AddForm, status int, faults []tools.Fault) {
	form.Errors = map[string]string{}
	for _, f := range faults {
		if len(f.Loc) > 0 {
			form.Errors[fmt.Sprint(f.Loc[0])] = f.Msg
		}
	}
	s.formAgain(c, status, form)
}

// formAgain shows a form that was refused. A URL comes back without what could be
// a password in it; the user of git@host:path is none.
func (s *server) formAgain(c *gin.Context, status int, form dashboard.AddForm) {
	if s.Redact == nil {
		form.URL = ""
	} else if place, ok := strings.CutPrefix(form.URL, "git@"); ok {
		form.URL = "git@" + s.Redact(place)
	} else {
		form.URL = s.Redact(form.URL)
	}
	s.repositoriesPage(c, status, form)
}

// added goes on to the page of a repository.
func added(c *gin.Context, repo codesage.Repository) {
	c.Redirect(http.StatusSeeOther, "/repositories/"+formatID(repo.ID))
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
