package git

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"codesage"
)

// Hosts whose links and branch URLs are known.
const (
	hostGitHub    = "github.com"
	hostGitLab    = "gitlab.com"
	hostBitbucket = "bitbucket.org"
)

// Longest inputs that are looked at. A longer one is refused by its length.
const (
	maxURL    = 2048
	maxEcho   = 200
	maxBranch = 100
)

var (
	githubOwner = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	githubName  = regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._-]{0,99}$`)
	pathSegment = regexp.MustCompile(`^[A-Za-z0-9._~+][A-Za-z0-9._~+-]{0,254}$`)
)

// Remote is a git repository that a URL names. The zero value names nothing;
// ParseURL makes the others, so that a Remote has passed every rule that needs
// no network.
type Remote struct {
	Host   string // lower case, without port
	Path   string // without leading slash and without .git
	URL    string // https://<host>/<path>
	Name   string // owner/name on github.com, <host>/<path> elsewhere
	Branch string // empty = the default branch
}

// Key is equal for two Remotes that are the same repository: the URL without
// regard to case.
func (r Remote) Key() string { return strings.ToLower(r.URL) }

// GitHub reports whether the repository is on github.com.
func (r Remote) GitHub() bool { return r.Host == hostGitHub }

// display names the host in messages.
func (r Remote) display() string {
	if r.GitHub() {
		return "GitHub"
	}
	return r.Host
}

// ParseURL reads a repository URL as people paste it and a branch, which may be
// empty and else wins over one in the URL. http:// and git@host:path become
// https; a trailing .git or slash goes; the branch URLs of github.com, GitLab
// and bitbucket.org are understood.
//
// A refusal is a *codesage.Error of KindInvalid whose message begins with the
// argument that is wrong, "url: " or "branch: ". It shows the URL without user,
// password, query and fragment. Nothing is looked up.
func ParseURL(raw, branch string) (Remote, error) {
	text := strings.TrimSpace(raw)
	host, path, reason := splitURL(text)
	if reason != "" {
		return Remote{}, refuseURL(reason, text)
	}
	path, urlBranch, reason := splitPath(host, path)
	if reason != "" {
		return Remote{}, refuseURL(reason, text)
	}
	if branch == "" {
		branch = urlBranch
	}
	if branch != "" && !ValidBranch(branch) {
		return Remote{}, codesage.Errorf(codesage.KindInvalid, "branch: Invalid branch name")
	}
	r := Remote{Host: host, Path: path, URL: "https://" + host + "/" + path, Name: host + "/" + path, Branch: branch}
	if r.GitHub() {
		r.Name = path
	}
	return r, nil
}

// The reasons for which a URL is refused.
const (
	reasonScheme      = "only https is supported"
	reasonCharacters  = "it holds characters that no repository URL has"
	reasonLength      = "it is too long"
	reasonCredentials = "a user name or password is not allowed"
	reasonPort        = "a port is not allowed"
	reasonQuery       = "a query or fragment is not allowed"
	reasonHost        = "the host name is not valid"
	reasonLocalhost   = "localhost is not allowed"
	reasonAddress     = "a private or loopback address is not allowed"
	reasonPath        = "the path must be <owner>/<repository>"
)

// splitURL checks everything up to the path and returns the lower-case host and
// the path, still percent-encoded; else the reason of the refusal.
func splitURL(text string) (host, path, reason string) {
	switch {
	case len(text) > maxURL:
		return "", "", reasonLength
	case strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r == 0x7f || r == utf8.RuneError }):
		return "", "", reasonCharacters
	}
	rest, ok := cutScheme(text)
	if !ok {
		return "", "", reasonScheme
	}
	if strings.ContainsAny(rest, "\\ \"<>^`{|}") {
		return "", "", reasonCharacters
	}
	authority, path, _ := strings.Cut(rest, "/")
	switch {
	case strings.Contains(authority, "@"):
		return "", "", reasonCredentials
	case strings.ContainsAny(rest, "?#"):
		return "", "", reasonQuery
	}
	host, reason = checkHost(strings.ToLower(authority))
	return host, path, reason
}

// cutScheme returns what follows https://, also for the two forms that are
// rewritten to it.
func cutScheme(text string) (rest string, ok bool) {
	lower := strings.ToLower(text)
	for _, scheme := range []string{"https://", "http://"} {
		if strings.HasPrefix(lower, scheme) {
			return text[len(scheme):], true
		}
	}
	scp, ok := strings.CutPrefix(text, "git@")
	if !ok {
		return "", false
	}
	host, path, ok := cutHostColon(scp)
	if !ok {
		return "", false
	}
	return host + "/" + strings.TrimPrefix(path, "/"), true
}

// cutHostColon splits host:path, where the host may be a bracketed address.
func cutHostColon(s string) (host, path string, ok bool) {
	if strings.HasPrefix(s, "[") {
		i := strings.Index(s, "]:")
		if i < 0 {
			return "", "", false
		}
		return s[:i+1], s[i+2:], true
	}
	host, path, ok = strings.Cut(s, ":")
	return host, path, ok && host != "" && !strings.Contains(host, "/")
}

// splitPath separates the repository's path from the branch behind it.
func splitPath(host, path string) (repo, branch, reason string) {
	segments := strings.Split(strings.TrimRight(path, "/"), "/")
	segments, suffix, ok := cutBranch(host, segments)
	if !ok {
		return "", "", reasonPath
	}
	last := len(segments) - 1
	segments[last] = strings.TrimSuffix(segments[last], ".git")
	if strings.HasSuffix(segments[last], ".git") { // no host has such a name, and the stored URL would lose it
		return "", "", reasonPath
	}
	if !validPath(host, segments) {
		return "", "", reasonPath
	}
	branch, err := url.PathUnescape(strings.Join(suffix, "/"))
	if err != nil {
		return "", "", reasonCharacters
	}
	return strings.Join(segments, "/"), branch, ""
}

// cutBranch takes the branch suffix of the known hosts off a path. It is not ok
// when a suffix names no branch.
func cutBranch(host string, segments []string) (repo, branch []string, ok bool) {
	at := -1
	switch {
	case host == hostGitHub:
		at = indexBehind(segments, "tree")
	case host == hostBitbucket:
		at = indexBehind(segments, "src")
	case isGitLab(host):
		at = indexBehind(segments, "tree")
	}
	if dash := indexBehind(segments, "-"); dash >= 0 && host != hostGitHub && host != hostBitbucket {
		if dash+1 >= len(segments) || segments[dash+1] != "tree" {
			return nil, nil, false
		}
		return segments[:dash], segments[dash+2:], dash+2 < len(segments)
	}
	if at < 0 {
		return segments, nil, true
	}
	return segments[:at], segments[at+1:], at+1 < len(segments)
}

// indexBehind returns the index of the first segment equal to word behind owner
// and name; -1 when there is none.
func indexBehind(segments []string, word string) int {
	for i := 2; i < len(segments); i++ {
		if segments[i] == word {
			return i
		}
	}
	return -1
}

// validPath reports whether the segments can be a repository on the host:
// exactly two on github.com and bitbucket.org, two or more elsewhere.
func validPath(host string, segments []string) bool {
	if len(segments) < 2 || len(segments) > 20 {
		return false
	}
	for _, s := range segments {
		if s == "." || s == ".." || !pathSegment.MatchString(s) {
			return false
		}
	}
	switch host {
	case hostGitHub:
		return len(segments) == 2 && githubOwner.MatchString(segments[0]) && githubName.MatchString(segments[1])
	case hostBitbucket:
		return len(segments) == 2
	}
	return true
}

// isGitLab reports whether the host has GitLab's URLs.
func isGitLab(host string) bool {
	return host == hostGitLab || strings.HasPrefix(host, "gitlab.")
}

// ValidBranch reports whether a name can be a branch: a valid git reference
// name of at most 100 characters that does not begin with a dash.
func ValidBranch(name string) bool {
	if name == "" || name == "@" || name == "HEAD" || name[0] == '-' || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxBranch {
		return false
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") {
		return false
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }) {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// refuseURL is the error for a URL that breaks a rule.
func refuseURL(reason, text string) error {
	return codesage.Errorf(codesage.KindInvalid, "url: Invalid repository URL (%s): %s", reason, Redact(text))
}

// Redact returns a URL fit for messages: without what could be a user, a
// password, a query or a fragment, without characters that control a terminal or
// the direction of text, and cut to 200 characters.
func Redact(text string) string {
	scheme := ""
	if i := strings.Index(text, "://"); i >= 0 && i <= 16 {
		scheme, text = text[:i+3], text[i+3:]
	}
	// A password may itself hold "/", "?" or "#": only the last @ is sure to
	// be behind it.
	for _, at := range []string{"@", "%40"} {
		if i := strings.LastIndex(text, at); i >= 0 {
			text = text[i+len(at):]
		}
	}
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, scheme+text)
	if runes := []rune(text); len(runes) > maxEcho {
		return string(runes[:maxEcho]) + "…"
	}
	return text
}
