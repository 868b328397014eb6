package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"codesage/catalog"
)

// host is how one git host sends events.
type host struct {
	name string

	// plausible refuses what can't be genuine before the body is read.
	plausible func(header http.Header, secret string) bool

	// proves reports whether the header alone shows that the sender knows the
	// secret.
	proves func(header http.Header, secret string) bool

	// genuine reports whether the sender knows the secret.
	genuine func(header http.Header, secret string, body []byte) bool

	// pushes returns the branches that were pushed to. Other events, tags and
	// deleted branches have none.
	pushes func(header http.Header, body []byte) ([]catalog.Push, error)
}

var hosts = map[string]host{
	"github":    signedBy("github", "X-Hub-Signature-256", github),
	"bitbucket": signedBy("bitbucket", "X-Hub-Signature", bitbucket),
	"gitlab": {
		name:      "gitlab",
		plausible: hasToken,
		proves:    hasToken,
		genuine:   func(h http.Header, secret string, _ []byte) bool { return hasToken(h, secret) },
		pushes:    gitlab,
	},
}

// hasToken reports whether the secret is in the header, compared in constant
// time: the digests have one length.
func hasToken(h http.Header, secret string) bool {
	got, want := sha256.Sum256([]byte(h.Get("X-Gitlab-Token"))), sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// signedBy is a host that signs the body by HMAC-SHA256 in a header.
func signedBy(name, header string, pushes func(http.Header, []byte) ([]catalog.Push, error)) host {
	return host{
		name: name,
		plausible: func(h http.Header, _ string) bool {
			return signature(h.Get(header)) != nil
		},
		proves: func(http.Header, string) bool { return false },
		genuine: func(h http.Header, secret string, body []byte) bool {
			mac := hmac.New(sha256.New, []byte(secret))
			_, _ = mac.Write(body)
			return hmac.Equal(signature(h.Get(header)), mac.Sum(nil))
		},
		pushes: pushes,
	}
}

// signature reads "sha256=<hex>"; nil when it is none.
func signature(text string) []byte {
	digits, ok := strings.CutPrefix(text, "sha256=")
	sum, err := hex.DecodeString(digits)
	if !ok || err != nil || len(sum) != sha256.Size {
		return nil
	}
	return sum
}

// errEvent is told to the sender, who has proved to know the secret.
var errEvent = errors.New("it is not the JSON of a push event")

// github reads a push event, sent as JSON or as a form.
func github(h http.Header, body []byte) ([]catalog.Push, error) {
	if h.Get("X-GitHub-Event") != "push" {
		return nil, nil
	}
	if kind, _, _ := mime.ParseMediaType(h.Get("Content-Type")); kind == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, errEvent
		}
		body = []byte(form.Get("payload"))
	}
	var e struct {
		Ref        string `json:"ref"`
		After      string `json:"after"`
		Deleted    bool   `json:"deleted"`
		Repository struct {
			HTMLURL       string `json:"html_url"`
			DefaultBranch string `json:"default_branch"`
		} `json:"repository"`
	}
	if json.Unmarshal(body, &e) != nil || e.Repository.HTMLURL == "" {
		return nil, errEvent
	}
	branch, ok := strings.CutPrefix(e.Ref, "refs/heads/")
	if !ok || e.Deleted {
		return nil, nil
	}
	return []catalog.Push{{URL: e.Repository.HTMLURL, Branch: branch, Default: e.Repository.DefaultBranch, Commit: e.After}}, nil
}

// gitlab reads a push event of a project or of the whole system.
func gitlab(_ http.Header, body []byte) ([]catalog.Push, error) {
	var e struct {
		Kind    string `json:"object_kind"`
		Event   string `json:"event_name"`
		Ref     string `json:"ref"`
		After   string `json:"after"`
		Project struct {
			WebURL        string `json:"web_url"`
			DefaultBranch string `json:"default_branch"`
		} `json:"project"`
	}
	if json.Unmarshal(body, &e) != nil {
		return nil, errEvent
	}
	if e.Kind != "push" && (e.Kind != "" || e.Event != "push") {
		return nil, nil
	}
	if e.Project.WebURL == "" {
		return nil, errEvent
	}
	branch, ok := strings.CutPrefix(e.Ref, "refs/heads/")
	if !ok || strings.Trim(e.After, "0") == "" {
		return nil, nil
	}
	return []catalog.Push{{URL: e.Project.WebURL, Branch: branch, Default: e.Project.DefaultBranch, Commit: e.After}}, nil
}

// bitbucket reads a push event of Bitbucket Cloud, which can tell of several
// branches at once and does not always name the default branch.
func bitbucket(h http.Header, body []byte) ([]catalog.Push, error) {
	if h.Get("X-Event-Key") != "repo:push" {
		return nil, nil
	}
	var e struct {
		Push struct {
			Changes []struct {
				New *struct {
					Type   string `json:"type"`
					Name   string `json:"name"`
					Target struct {
						Hash string `json:"hash"`
					} `json:"target"`
				} `json:"new"`
			} `json:"changes"`
		} `json:"push"`
		Repository struct {
			Links struct {
				HTML struct {
					Href string `json:"href"`
				} `json:"html"`
			} `json:"links"`
			MainBranch struct {
				Name string `json:"name"`
			} `json:"mainbranch"`
		} `json:"repository"`
	}
	if json.Unmarshal(body, &e) != nil || e.Repository.Links.HTML.Href == "" {
		return nil, errEvent
	}
	var pushes []catalog.Push
	for _, c := range e.Push.Changes {
		if c.New == nil || c.New.Type != "branch" {
			continue
		}
		pushes = append(pushes, catalog.Push{
			URL: e.Repository.Links.HTML.Href, Branch: c.New.Name, Default: e.Repository.MainBranch.Name, Commit: c.New.Target.Hash,
		})
	}
	return pushes, nil
}
