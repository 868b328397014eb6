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
	scoreFocus   = 1 << 7  // for each step of focus, at most 2
	scoreTyped   = 1 << 9  // for each word that matches without a typo
	scoreCovered = 1 << 14 // for each word, in SomeWords
	scoreNamed   = 1 << 19 // for each step of being named, at most 5
)

// EntityClass is the part of an entity's score before the fraction: entities of
// one class are equally relevant. A higher class is better. It compares, in this
// order:
//
//   - how the query names the entity: 5 the query is its name, 4 but for case, 3
//     a qualified name in the query has its name and what it is in, 2 but for
//     case, 1 the query is the name but for case and separators;
//   - how many words match, in SomeWords;
//   - how many of them without a typo;
//   - in queries of two to six words, the focus: 2 the name is some neighbouring
//     words and all others are in its place; 1 it is no test, and each word is in
//     name or place, or the name is some words and the place has another;
//   - the sum over the words of the best field: 5 the name with the word as typed,
//     4 the name otherwise, 3 signature or description, or in queries of several
//     words the place, 2 the path, 1 the body.
//
// The place of an entity is its owner, its folder and its file, see
// EntityFields.
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

// Entities returns the tree of a plain query at a level of leniency. Without
// words nothing matches.
func Entities(p Plain, level Leniency, f EntityFields) Query {
	if len(p.Words) == 0 {
		return Or{}
	}
	each := make([]Query, 0, len(p.Words)+2)
	for _, w := range p.Words {
		each = append(each, f.word(w, level, len(p.Words)))
	}
	// What All adds scores nothing and lets every match through.
	named := append(f.named(p), All{})
	focused := append(f.focused(p.Words), All{})
	if level == SomeWords {
		return And{Or(each), named, focused}
	}
	return append(And(each), named, focused)
}

// named returns the steps of being named, which add up.
func (f EntityFields) named(p Plain) Or {
	written, folded := Keyword{f.Written, p.Text}, Keyword{f.Folded, f.Search.Fold(p.Text)}
	exact := Keyword{f.Exact, exactName(p.Text, f.Search)}
	var qualified, asWritten Or
	for _, n := range p.Names {
		in := f.in(n)
		qualified = append(qualified, append(And{Keyword{f.Exact, n.Name}}, in...))
		asWritten = append(asWritten, append(And{Keyword{f.Written, n.Written}}, in...))
	}
	return Or{
		Const{append(Or{exact, folded}, qualified...), scoreNamed},
		Const{append(Or{folded}, qualified...), scoreNamed},
		Const{append(Or{folded}, asWritten...), scoreNamed},
		Const{folded, scoreNamed},
		Const{written, scoreNamed},
	}
}

// in matches what is in the owner of a qualified name.
func (f EntityFields) in(n QualifiedName) (and And) {
	for _, t := range n.Owner {
		and = append(and, Term{Field: f.Place.Whole, Text: t})
	}
	for _, t := range n.Outer {
		and = append(and, Or{Term{Field: f.Place.Whole, Text: t}, PathWord(t)})
	}
	return and
}

// Limits of the focus: the tree grows with their squares.
const (
	maxFocusWords = 6 // in the query
	maxNameWords  = 4 // that are tried as a name whose place the others tell
)

// focused returns the steps of focus, which add up.
func (f EntityFields) focused(words []Word) Or {
	if len(words) < 2 || len(words) > maxFocusWords {
		return nil
	}
	near := make([]Or, len(words))
	each := And{}
	for i, w := range words {
		near[i] = f.place(w)
		each = append(each, join(f.name(w), near[i]))
	}
	var whole, some Or
	for i := range words {
		name := ""
		for j := i; j < min(len(words), i+maxNameWords) && j-i < len(words)-1; j++ {
			name += words[j].Text
			all, other := And{Keyword{f.Exact, name}}, Or{}
			for k := range words {
				if k < i || k > j {
					all, other = append(all, near[k]), append(other, near[k]...)
				}
			}
			whole = append(whole, all)
			some = append(some, And{Keyword{f.Exact, name}, other})
		}
	}
	source := Attr{Attr: f.Test}
	return Or{
		Const{append(Or{And{append(some, each), source}}, whole...), scoreFocus},
		Const{whole, scoreFocus},
	}
}

// place returns what matches a word in the place of an entity.
func (f EntityFields) place(w Word) (place Or) {
	for _, t := range append([]string{w.Text}, w.Forms...) {
		place = append(place, Term{Field: f.Place.Whole, Text: t}, Term{Field: f.Place.Parts, Text: t})
	}
	return place
}

// name returns what matches a word in the name of an entity.
func (f EntityFields) name(w Word) Or {
	name, _, _, _ := f.fields(w, append([]string{w.Text}, w.Forms...))
	return name
}

// word returns the tree of one word of n. Its levels are nested, so that their
// scores add up to that of the best field: what has the word in its place has it
// in its path or text.
func (f EntityFields) word(w Word, level Leniency, n int) Query {
	terms := append([]string{w.Text}, w.Forms...)
	name, text, path, body := f.fields(w, terms)
	var place Or
	if n > 1 {
		place = f.place(w)
	}
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
		Const{join(name, text, place), scoreTier},
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
