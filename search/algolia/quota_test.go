package algolia

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"codesage"
	"codesage/search/algolia/algoliatest"
)

// quotaWords are what the service says when the plan of the application is used
// up. The status is that of a refused key.
var quotaWords = []string{
	"Record quota exceeded. Change plan or delete records.",
	"Operations quota exceeded, change plan to get more Operations.",
	"You have exceeded your Record quota. You’ll need to change your plan for more capacity, or delete records.",
}

// A quota that is used up is no wrong key: who writes is told which it is.
func TestAUsedUpQuotaIsNoRefusedKey(t *testing.T) {
	t.Parallel()
	for _, words := range quotaWords {
		e, p := openBehind(t)
		body := `{"message":"` + words + `","status":403}`
		p.answers("POST", "batch", http.StatusForbidden, text(body))
		w := begin(t, e, 1, 0, 1)
		write(t, w, 1, 1, nil, tree{"a.go": {"load"}})
		err := w.Commit(t.Context())
		if !errors.Is(err, codesage.ErrTooLarge) || strings.Contains(err.Error(), "key") || !strings.Contains(err.Error(), "quota") {
			t.Errorf("%s: got %v, want that the quota is used up", words, err)
		}
	}
}

// Nor does it keep a server from starting, which has other things to answer.
func TestAUsedUpQuotaLetsAServerStart(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{})
	p := &proxy{service: s.Client().Transport}
	p.answers("GET", "settings", http.StatusForbidden, text(`{"message":"`+quotaWords[1]+`","status":403}`))
	openAt(t, s, Config{HTTP: &http.Client{Transport: p}})
}
