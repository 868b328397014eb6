package dashboard

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"codesage"
)

// Search is the page of search.
type Search struct {
	Query, Repository, Language, Type string
	Number                            int // of the page of hits, from 0

	Repositories []codesage.Repository // to choose from
	Languages    []string

	Error string // why there is no answer
	Asked bool   // there is an answer: the rest
	Total int
	Pages int
	Hits  []Hit
}

// Hit is one result.
type Hit struct {
	Repository  codesage.RepositoryID
	In          string // the repository's name
	Name        string
	Type        codesage.EntityType
	Path        string
	Start, End  int
	Language    string
	Description string
	Signature   string
	Snippet     string
	URL         string // of the lines at their host; may be empty
}

// Place is the path and the lines.
func (h Hit) Place() string {
	if h.Start == h.End {
		return fmt.Sprintf("%s:%d", h.Path, h.Start)
	}
	return fmt.Sprintf("%s:%d–%d", h.Path, h.Start, h.End)
}

// ShowSignature reports whether the signature says more than the snippet.
func (h Hit) ShowSignature() bool {
	return h.Signature != "" && !strings.Contains(h.Snippet, h.Signature)
}

func (Search) file() string { return "search.html" }

func (p Search) title() string {
	if p.Query != "" {
		return p.Query + " – Search"
	}
	return "Search"
}

// Types are the types of entity to choose from.
func (Search) Types() []codesage.EntityType { return codesage.EntityTypes }

// Selected reports whether a repository is the one that is asked for.
func (p Search) Selected(r codesage.Repository) bool {
	return p.Repository == strconv.FormatInt(int64(r.ID), 10) || p.Repository == r.Name
}

// Link is the address of a page of hits.
func (p Search) Link(number int) string {
	return "/search?" + url.Values{
		"q": {p.Query}, "repository": {p.Repository}, "language": {p.Language}, "type": {p.Type}, "page": {strconv.Itoa(number)},
	}.Encode()
}

// Links are those to the pages before and after this one.
func (p Search) Links() Pages {
	var links Pages
	if p.Number > 0 {
		links.Before = p.Link(p.Number - 1)
	}
	if p.Number+1 < p.Pages {
		links.After = p.Link(p.Number + 1)
	}
	return links
}
