package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var testAnalysis = Analysis{
	Tokens: func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" .,_?!\"", r) })
	},
	Fold: strings.ToLower,
	Parts: func(word string) []string {
		if word == "WithState" {
			return []string{"with", "state"}
		}
		return nil
	},
}

func TestPlainWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "[]",
		" ?! ":                           "[]",
		"User user":                      "[user*]",
		"how does the Client work":       "[client work*]",
		"what is the":                    "[what is the*]",
		"WithState":                      "[withstate(state with)*]",
		"user_name of":                   "[user name*]",
		strings.Repeat("a1 b2 c3 ", 200): "[a1 b2 c3*]",
	} {
		var list []string
		for _, w := range PlainWords(text, testAnalysis) {
			s := w.Text
			if len(w.Parts) > 0 {
				s += "(" + strings.Join(w.Parts, " ") + ")"
			}
			if w.Prefix {
				s += "*"
			}
			list = append(list, s)
		}
		if got := fmt.Sprint(list); got != want {
			t.Errorf("%.40q: got %s, want %s", text, got, want)
		}
	}
}

func TestPlainWordsAreBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "w%d ", i)
	}
	if n := len(PlainWords(text.String(), testAnalysis)); n != maxPlainWords {
		t.Errorf("got %d words, want %d", n, maxPlainWords)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][]string{
		"user": {"users"}, "users": {"user"}, "repository": {"repositories"}, "repositories": {"repository", "repositorie"},
		"class": {"classes"}, "classes": {"class", "classe"}, "box": {"boxes"}, "key": {"keys"}, "go": nil, "42": nil, "x86": nil,
		"hashed": {"hash", "hashe"}, "retried": {"retry"}, "stopped": {"stopp", "stop"}, "caching": {"cach", "cache", "cachings"},
		"string": {"strings"}, "speed": {"speeds"}, "日本": nil,
	} {
		if got := forms(word); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}
