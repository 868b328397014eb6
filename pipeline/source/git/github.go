package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"codesage"
)

// maxAPIBytes bounds one answer of GitHub's API.
const maxAPIBytes = 1 << 20

// apiClient asks GitHub's API.
type apiClient struct {
	http http.Client
	base *url.URL
}

// askGitHub finds the head of a repository on github.com by the REST API.
func (s *Source) askGitHub(ctx context.Context, r Remote) (Head, error) {
	allowed := Public
	if s.cfg.GitHubAPIURL != DefaultGitHubAPIURL {
		// The operator named the host, not the person who asks.
		allowed = func(a netip.Addr) bool { return internal(a) }
	}
	p, ctx, err := s.connect(ctx, s.api, allowed, 2*maxAPIBytes)
	if err != nil {
		return Head{}, err
	}
	defer p.close()
	if s.token != "" {
		p.auth = "Bearer " + s.token
	}
	api := &apiClient{http: http.Client{Transport: p}, base: s.api}
	head, err := api.head(ctx, r)
	return head, withCause(ctx, err)
}

// head asks for the default branch, unless the branch is given, and for the
// branch's commit.
func (c *apiClient) head(ctx context.Context, r Remote) (Head, error) {
	var repo struct {
		DefaultBranch string `json:"default_branch"`
	}
	if err := c.get(ctx, r, "/repos/"+r.Path, &repo); err != nil {
		return Head{}, err
	}
	branch := r.Branch
	if branch == "" {
		branch = repo.DefaultBranch
	}
	var ref struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	err := c.get(ctx, r, "/repos/"+r.Path+"/git/ref/heads/"+escapeSegments(branch), &ref)
	switch {
	case errors.Is(err, codesage.ErrNotFound) && r.Branch == "":
		return Head{}, errEmpty
	case errors.Is(err, codesage.ErrNotFound):
		return Head{}, errNoBranch
	case err != nil:
		return Head{}, err
	case len(ref.Object.SHA) == 64:
		return Head{}, errSHA256
	case len(ref.Object.SHA) != 40:
		return Head{}, fmt.Errorf("%s answered without a commit", c.base.Host)
	}
	return Head{Branch: branch, Commit: ref.Object.SHA}, nil
}

// get reads one JSON answer. An answer that says why there is none becomes an
// error with its message.
func (c *apiClient) get(ctx context.Context, r Remote, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	req.Header.Set("User-Agent", "codesage")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAPIBytes))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return statusError(r, res, body)
	}
	return json.Unmarshal(body, into)
}

// statusError is the error for an answer other than 200.
func statusError(r Remote, res *http.Response, body []byte) error {
	limited, wait := rateLimited(res, body)
	switch {
	case limited:
		return codesage.Errorf(codesage.KindUnavailable, "GitHub's API rate limit was reached; try again in about %s.", minutes(wait))
	case res.StatusCode == http.StatusUnauthorized:
		return codesage.Errorf(codesage.KindUnavailable, "GitHub rejected the server's GITHUB_TOKEN; check the token configured on the CodeSage server.")
	case res.StatusCode == http.StatusForbidden, res.StatusCode == http.StatusUnavailableForLegalReasons:
		return codesage.Errorf(codesage.KindDenied, "GitHub denied access to %s.", r.Name)
	case res.StatusCode == http.StatusNotFound:
		return codesage.Errorf(codesage.KindNotFound, "%s", notFound(r))
	case res.StatusCode == http.StatusConflict:
		return errEmpty
	}
	return fmt.Errorf("answer %d", res.StatusCode)
}

// rateLimited reports whether an answer is GitHub's rate limit, the primary or
// a secondary one, and how long it lasts.
func rateLimited(res *http.Response, body []byte) (limited bool, wait time.Duration) {
	if res.StatusCode != http.StatusForbidden && res.StatusCode != http.StatusTooManyRequests {
		return false, 0
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		return true, time.Duration(min(seconds, 86400)) * time.Second
	}
	spent := res.Header.Get("X-RateLimit-Remaining") == "0"
	if reset, err := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64); spent && err == nil {
		return true, min(time.Until(time.Unix(reset, 0)), 24*time.Hour)
	}
	secondary := strings.Contains(strings.ToLower(string(body)), "rate limit")
	return spent || secondary || res.StatusCode == http.StatusTooManyRequests, time.Minute
}
