package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var testAnalysis = Analysis{
	Tokens: func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" .,_?!\"#:/<>-*()$\\", r) })
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

func TestParsePlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "[] []",
		" plain words, e. g.":    "[plain words e g] []",
		"errors.Is":              "[errors is] [Is/is in errors]",
		"what is errors.Is ":     "[errors is] [Is/is in errors]",
		"A.run":                  "[a run] [run/run in a]",
		"net/http.Client.Do()":   "[net http client do] [Do/do in client in net http]",
		"(*Server).Serve(l)":     "[server serve l] [Serve/serve in server]",
		"std::map<int, B::c_d>":  "[std map int b c d] [map/map in std c_d/cd in b]",
		"a->b#c":                 "[a b c] [c/c in b in a]",
		`App\Models\User`:        "[app models user] [User/user in models in app]",
		"read and/or write":      "[read write] [or/or in and]",
		"time.Time":              "[time] [Time/time in time]",
		"$x.$y _.z z._ .z z. ..": "[x y z] [$y/y in x]",
		"ends here.Then and":     "[ends here then] [Then/then in here]",
	} {
		p := ParsePlain(text, testAnalysis)
		words, names := []string{}, []string{}
		for _, w := range p.Words {
			words = append(words, w.Text)
		}
		for _, n := range p.Names {
			s := n.Written + "/" + n.Name + " in " + strings.Join(n.Owner, " ")
			if len(n.Outer) > 0 {
				s += " in " + strings.Join(n.Outer, " ")
			}
			names = append(names, s)
		}
		if got := fmt.Sprint(words, " ", names); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// The engine refuses trees of more than 16,384 nodes, so no query may make one.
func TestTreesAreBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range maxPlainWords {
		fmt.Fprintf(&text, "WithState%dies.", i)
	}
	for _, text := range []string{text.String(), strings.ReplaceAll(text.String(), ".", " "), strings.Repeat("a.", 200), strings.Repeat("ab.cd ", 80),
		"WithState1ies WithState2ies WithState3ies WithState4ies WithState5ies.WithState6ies", "hashing.hashing retried stopped.caching users repositories"} {
		p := ParsePlain(text, Analysis{Tokens: testAnalysis.Tokens, Fold: testAnalysis.Fold, Parts: func(string) []string { return []string{"aa", "bb", "cc", "dd"} }})
		for i := range p.Words {
			p.Words[i].Typos = strings.Fields("a b c d e f g h")
		}
		if n := nodes(Entities(p, SomeWords, EntityFields{Search: testAnalysis})); n > 12_000 {
			t.Errorf("%.40q: the tree has %d nodes, want 12,000 at most", text, n)
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
