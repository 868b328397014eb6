package query

// Leniency says how well entities must match the words of a query.
type Leniency int

// The levels, in the order in which they are tried until one has matches.
const (
	AllWords  Leniency = iota // every word as typed, in another form, as a part of an identifier; the last as a prefix
	OneTypo                   // every word, long ones with one typo
	SomeWords                 // at least one word
)

// The score of an entity is a sum of these and a fraction below one that is its
// BM25 score, made small. All are exact in 32 bits.
const (
	scoreTier    = 1       // for each word and each better field, at most 5 for a word
	scoreTyped   = 1 << 7  // for each word that matches without a typo
	scoreCovered = 1 << 12 // for each word, in SomeWords
	scoreExact   = 1 << 17 // the query is the entity's name
)

// EntityClass is the part of an entity's score before the fraction: entities of
// one class are equally relevant. A higher class is better. It compares, in this
// order: whether the query is the entity's name; how many words match; how many
// of them without a typo; and the sum over the words of the best field: 5 the
// name with the word as typed, 4 the name otherwise, 3 signature or description,
// 2 the path, 1 the body.
func EntityClass(score float64) (class int, fraction float64) {
	class = int(score)
	return class, score - float64(class)
}

// bm25Scale keeps the sum of all BM25 scores of a query below one: 16 words in
// up to 4 forms, with weights that sum to 11, an idf of at most 22 for 2^32
// documents, and at most 2.2 times that for a term.
const bm25Scale = 1.0 / (1 << 16)

// Weights of a word in a field, for the fraction.
const (
	weightName      = 4
	weightNameParts = 3
	weightText      = 1.5
	weightTextParts = 1
	weightBody      = 1
	weightBodyParts = 0.5
)

// Entities returns the tree of a plain query at a level of leniency. exact is
// the query as a name, in the form of the keyword field. Without words nothing
// matches.
func Entities(words []Word, exact string, level Leniency, f EntityFields) Query {
	if len(words) == 0 {
		return Or{}
	}
	each := make([]Query, 0, len(words)+1)
	for _, w := range words {
		each = append(each, f.word(w, level))
	}
	// What All adds scores nothing and lets every match through.
	named := Or{Const{Q: Keyword{f.Exact, exact}, Score: scoreExact}, All{}}
	if level == SomeWords {
		return And{Or(each), named}
	}
	return append(And(each), named)
}

// word returns the tree of one word. Its levels are nested, so that their
// scores add up to that of the best field.
func (f EntityFields) word(w Word, level Leniency) Query {
	terms := append([]string{w.Text}, w.Forms...)
	name, text, path, body := f.fields(w, terms)
	tree := Or{}
	if level == AllWords {
		w.Typos = nil
	}
	if len(w.Typos) > 0 {
		typed := join(name, text, path, body)
		tree = append(tree, Const{typed, scoreTyped})
		n, t, p, b := f.fields(Word{}, w.Typos)
		name, text, path, body = join(name, n), join(text, t), join(path, p), join(body, b)
	} else if level != AllWords {
		tree = append(tree, Const{join(name, text, path, body), scoreTyped})
	}
	covered := float64(scoreTier)
	if level == SomeWords {
		covered += scoreCovered
	}
	tree = append(tree,
		Const{join(name, text, path, body), covered},
		Const{join(name, text, path), scoreTier},
		Const{join(name, text), scoreTier},
		Const{name, scoreTier},
		Const{Or{Term{Field: f.Name.Whole, Text: w.Text}, Term{Field: f.Name.Parts, Text: w.Text}}, scoreTier})
	return append(tree, f.bm25(terms)...)
}

// fields returns what matches a word in each group of fields.
func (f EntityFields) fields(w Word, terms []string) (name, text, path, body Or) {
	for _, t := range terms {
		name = append(name, Term{Field: f.Name.Whole, Text: t}, Term{Field: f.Name.Parts, Text: t}, Term{Field: f.Joins, Text: t})
		text = append(text, Term{Field: f.Text.Whole, Text: t}, Term{Field: f.Text.Parts, Text: t})
		path = append(path, PathWord(t))
		body = append(body, Term{Field: f.Body.Whole, Text: t}, Term{Field: f.Body.Parts, Text: t})
	}
	if len(w.Parts) > 0 {
		name = append(name, f.Name.all(w.Parts))
		text = append(text, f.Text.all(w.Parts))
		inPath, inBody := And{}, And{}
		for _, p := range w.Parts {
			inPath = append(inPath, PathWord(p))
			// Words of prose that happen to be in the same body don't count.
			inBody = append(inBody, Term{Field: f.Body.Parts, Text: p})
		}
		path, body = append(path, inPath), append(body, inBody)
	}
	if w.Prefix {
		name = append(name, Prefix{Field: f.Name.Whole, Text: w.Text}, Prefix{Field: f.Name.Parts, Text: w.Text},
			Prefix{Field: f.Joins, Text: w.Text})
		text = append(text, Prefix{Field: f.Text.Whole, Text: w.Text}, Prefix{Field: f.Text.Parts, Text: w.Text})
	}
	if w.Prefix && len(w.Text) >= minBodyPrefix {
		body = append(body, Prefix{Field: f.Body.Whole, Text: w.Text}, Prefix{Field: f.Body.Parts, Text: w.Text})
	}
	return name, text, path, body
}

// all matches a text that has every part of an identifier.
func (g FieldGroup) all(parts []string) Query {
	and := And{}
	for _, p := range parts {
		and = append(and, Or{Term{Field: g.Whole, Text: p}, Term{Field: g.Parts, Text: p}})
	}
	return and
}

// bm25 returns what makes the fraction of the score.
func (f EntityFields) bm25(terms []string) []Query {
	var qs []Query
	for _, t := range terms {
		for _, w := range []struct {
			field  int
			weight float64
		}{
			{f.Name.Whole, weightName}, {f.Name.Parts, weightNameParts},
			{f.Text.Whole, weightText}, {f.Text.Parts, weightTextParts},
			{f.Body.Whole, weightBody}, {f.Body.Parts, weightBodyParts},
		} {
			qs = append(qs, Term{Field: w.field, Text: t, Weight: w.weight * bm25Scale})
		}
	}
	return qs
}

// join returns the members of all lists as one.
func join(lists ...Or) Or {
	var all Or
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
