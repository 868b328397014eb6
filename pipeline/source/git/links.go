package git

import (
	"fmt"
	"net/url"
	"strings"
)

// Link returns the web page of lines start to end of a file at a reference,
// which is a commit, a branch, or empty for the default branch's head. The URL
// is a normalised one, as Remote.URL. Hosts whose pages are not known give "".
func Link(repoURL, ref, path string, start, end int) string {
	rest, ok := strings.CutPrefix(repoURL, "https://")
	host, _, found := strings.Cut(rest, "/")
	if !ok || !found {
		return ""
	}
	if ref == "" {
		ref = "HEAD"
	}
	ref, path = escapeSegments(ref), escapeSegments(path)
	switch {
	case host == hostGitHub:
		return fmt.Sprintf("%s/blob/%s/%s#L%d-L%d", repoURL, ref, path, start, end)
	case isGitLab(host):
		return fmt.Sprintf("%s/-/blob/%s/%s#L%d-%d", repoURL, ref, path, start, end)
	case host == hostBitbucket:
		return fmt.Sprintf("%s/src/%s/%s#lines-%d:%d", repoURL, ref, path, start, end)
	}
	return ""
}

// escapeSegments percent-encodes each segment of a slash-separated path.
func escapeSegments(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}
