// Package language says in which language a file is written and what kind of
// file it is: by its name first, by its content second. Labels are the lower-case
// words that all tools print. Everything here is a pure function of its
// arguments, safe for concurrent use.
package language

import (
	"bytes"
	"math"
	"path"
	"regexp"
	"strings"

	"github.com/go-enry/go-enry/v2"
	"github.com/go-enry/go-enry/v2/data"
)

// Text is the label of plain text, and of files of which nothing more is known.
const Text = "text"

// sniff is how much of a file is looked at to tell languages apart.
const sniff = 32 << 10

// Detect returns the label of a text file. It is never empty: what is not known
// is Text.
func Detect(name string, content []byte) string {
	content = content[:min(len(content), sniff)]
	ext := strings.ToLower(path.Ext(name))
	switch {
	case ext == ".h":
		return header(content)
	case ext == ".ts" && looksLikeXML(content):
		return "xml" // a translation file of Qt
	}
	if label, ok := byName(name); ok {
		return label
	}
	return labelOf(byContent(name, content))
}

// ByName returns the label of a file of which only the name is known. Where
// several languages share the name it is one of them. ok is false when the name
// says nothing; then only a name without an extension can still turn out to be
// a known language by its content.
func ByName(name string) (label string, ok bool) {
	if strings.EqualFold(path.Ext(name), ".h") {
		return "c", true
	}
	if label, ok := byName(name); ok {
		return label, true
	}
	for _, strategy := range []enry.Strategy{enry.GetLanguagesByExtension, enry.GetLanguagesByManpage} {
		if candidates := strategy(base(name), nil, nil); len(candidates) > 0 {
			return labelOf(candidates[0]), true
		}
	}
	return "", false
}

// Known reports whether a text file is of a known language. Plain text is when
// its name says that it is meant to be: notes.txt, README, LICENSE.
func Known(name string, content []byte) bool {
	_, ok := ByName(name)
	return ok || Detect(name, content) != Text
}

// byName decides by the name alone, where it leaves no doubt.
func byName(name string) (label string, ok bool) {
	name = base(name)
	if l := enry.GetLanguagesByFilename(name, nil, nil); len(l) == 1 {
		return labelOf(l[0]), true
	}
	if label, ok := extensionLabels[strings.ToLower(path.Ext(name))]; ok {
		return label, true
	}
	if plainNames[name] {
		return Text, true
	}
	for prefix, label := range prefixLabels {
		if strings.HasPrefix(strings.ToLower(name), prefix) {
			return label, true
		}
	}
	l := enry.GetLanguagesByExtension(name, nil, nil)
	if len(l) == 1 {
		return labelOf(l[0]), true
	}
	return "", false
}

// byContent returns the library's name of the language of a file whose name
// leaves several or none.
func byContent(name string, content []byte) string {
	name = base(name)
	candidates := enry.GetLanguagesByExtension(name, nil, nil)
	if len(candidates) == 0 {
		for _, strategy := range []enry.Strategy{enry.GetLanguagesByShebang, enry.GetLanguagesByModeline, enry.GetLanguagesByXML, enry.GetLanguagesByManpage} {
			if l := strategy(name, content, nil); len(l) > 0 {
				return l[0]
			}
		}
		return ""
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return candidates[0]
	}
	if l := enry.GetLanguagesByContent(name, content, candidates); len(l) == 1 {
		return l[0]
	} else if len(l) > 1 {
		candidates = l
	}
	return classify(content, candidates)
}

var token = regexp.MustCompile(`[A-Za-z_]\w*|[^\w\s"']`)

// classify returns the candidate that the words of the content speak for, by
// the library's table of how often each language has them; of equals the first.
// The library's own classifier names equals in any order, and a file must get
// the same label each time.
func classify(content []byte, candidates []string) string {
	unseen := -math.Log(data.TokensTotal)
	best, top := candidates[0], math.Inf(-1)
	tokens := token.FindAll(content, -1)
	for _, candidate := range candidates {
		score, ok := data.LanguagesLogProbabilities[candidate]
		if !ok {
			continue
		}
		words := data.TokensLogProbabilities[candidate]
		for _, word := range tokens {
			if p, ok := words[string(word)]; ok {
				score += p
			} else {
				score += unseen
			}
		}
		if score > top {
			best, top = candidate, score
		}
	}
	return best
}

// base returns the last segment of a path.
func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

var (
	objectiveC = regexp.MustCompile(`(?m)^[ \t]*(?:@(?:interface|protocol|class|property|end|import)\b|#[ \t]*import[ \t]+[<"])`)
	cpp        = regexp.MustCompile(`(?m)^[ \t]*(?:` +
		`#[ \t]*include[ \t]*<(?:c?[a-z_]+|[a-z_/]+\.(?:hpp|hh|hxx))>` +
		`|(?:template[ \t]*<|namespace\b|using[ \t]+(?:namespace[ \t]+)?[\w:]+|class[ \t]+\w|(?:public|private|protected)[ \t]*(?:\w+[ \t]*)?:|enum[ \t]+class\b|constexpr\b|virtual\b|explicit\b|friend\b)` +
		`|(?:[^"/\n]|/[^/*\n])*(?:\bstd::|\w::\w|\boperator[ \t]*[^\w\s]|\bnoexcept\b|\boverride\b|\bnullptr\b|\bstatic_cast<))`)
	guarded = regexp.MustCompile(`(?s)#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t]*\(?[ \t]*)__cplusplus\b.*?#[ \t]*endif`)
	comment = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
)

// header tells the languages that share .h apart. What stands between
// #ifdef __cplusplus and its end is there for C headers too.
func header(content []byte) string {
	content = comment.ReplaceAll(content, nil)
	if objectiveC.Match(content) {
		return "objective-c"
	}
	if cpp.Match(guarded.ReplaceAll(content, nil)) {
		return "cpp"
	}
	return "c"
}

func looksLikeXML(content []byte) bool {
	content = bytes.TrimSpace(content)
	return bytes.HasPrefix(content, []byte("<?xml")) || bytes.HasPrefix(content, []byte("<!DOCTYPE TS")) || bytes.HasPrefix(content, []byte("<TS"))
}
