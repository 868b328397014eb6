package local

import (
	"math/rand/v2"
	"strings"

	"codesage"
	"codesage/search"
)

// A corpus makes records of few words, so that queries match and hits tie.
type corpus struct{ rnd *rand.Rand }

var modelWords = strings.Fields("user name parse http client redirect follow server config read file handler request state error token cache store query match")

func (c corpus) word() string { return modelWords[c.rnd.IntN(len(modelWords))] }

func (c corpus) identifier() string {
	var parts []string
	for range 1 + c.rnd.IntN(3) {
		parts = append(parts, c.word())
	}
	switch c.rnd.IntN(3) {
	case 0:
		return strings.Join(parts, "_")
	case 1:
		for i, p := range parts {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
		return strings.Join(parts, "")
	}
	return parts[0] + strings.ToUpper(parts[len(parts)-1])
}

// common returns one of few words, so that names and their places meet.
func (c corpus) common() string { return modelWords[c.rnd.IntN(4)] }

// cased gives a word an upper-case letter now and then.
func (c corpus) cased(w string) string {
	if c.rnd.IntN(2) == 0 {
		return strings.ToUpper(w[:1]) + w[1:]
	}
	return w
}

func (c corpus) text(n int) string {
	var words []string
	for range c.rnd.IntN(n) {
		if c.rnd.IntN(3) == 0 {
			words = append(words, c.identifier())
		} else {
			words = append(words, c.word())
		}
	}
	return strings.Join(words, " ")
}

func (c corpus) records(repo codesage.RepositoryID, run codesage.RunID, path string) []search.Record {
	var records []search.Record
	for i := range 1 + c.rnd.IntN(4) {
		kind := codesage.EntityTypes[c.rnd.IntN(4)]
		r := search.Record{ObjectID: search.ObjectID(repo, path, i), RepositoryID: repo, Run: run, FilePath: path, EntityType: kind,
			EntityName: c.identifier(), Language: []string{"go", "python"}[c.rnd.IntN(2)], LineStart: 1 + c.rnd.IntN(5), LineEnd: 9,
			Signature: c.text(4), Description: c.text(3), Content: c.text(12), IsTest: c.rnd.IntN(2), RankWeight: kind.RankWeight()}
		switch c.rnd.IntN(4) {
		case 0:
			r.EntityName = c.cased(c.common())
			r.Description = "Go function: " + c.cased(c.common()) + "." + r.EntityName
		case 1:
			r.EntityName = c.common() + []string{"", "_"}[c.rnd.IntN(2)] + c.cased(c.common())
			r.Description = "Go function: " + c.common() + "." + c.word() + "." + r.EntityName
		}
		records = append(records, r)
	}
	return records
}

func (c corpus) query() search.Query {
	var words []string
	for range 1 + c.rnd.IntN(3) {
		w := c.word()
		switch c.rnd.IntN(12) {
		case 0:
			w = c.identifier()
		case 1:
			w = w[:1+c.rnd.IntN(len(w))]
		case 2:
			i := c.rnd.IntN(len(w))
			w = w[:i] + string(rune('a'+c.rnd.IntN(26))) + w[i+c.rnd.IntN(2):]
		case 3:
			w += "s"
		case 4:
			w = "the " + w
		case 5, 6:
			w = c.cased(c.common()) + []string{".", "::", "/", "#"}[c.rnd.IntN(4)] + c.cased(c.common())
		case 7:
			w = c.common() + "." + c.common() + "->" + c.common()
		case 8:
			w = c.cased(c.common()) + " " + c.common()
		}
		words = append(words, w)
	}
	q := search.Query{Text: strings.Join(words, " "), Limit: 50}
	if c.rnd.IntN(5) == 0 {
		q.Language = "go"
	}
	if c.rnd.IntN(5) == 0 {
		q.EntityType = codesage.EntityTypes[c.rnd.IntN(4)]
	}
	return q
}
