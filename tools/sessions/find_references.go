package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"codesage"
	"codesage/search/index"
	"codesage/store"
	"codesage/tools"
)

// Limits of find_references.
const (
	minSymbol         = 2
	maxSymbol         = 200
	defaultReferences = 50
	maxReferences     = 500
	defaultContext    = 2
	maxContext        = 10
)

var findReferences = tools.Spec{
	Name: "find_references",
	Description: "Find all references to a symbol in a session, line by line, with a confidence and the files to change on a rename. " +
		"Whole symbols only, case-sensitive. Lines that define the symbol are marked.",
	Arguments: tools.Schema{Title: "FindReferencesArgs", Fields: []tools.Field{
		{Name: "symbol", Type: tools.String, Required: true, Description: "The symbol, 2-200 characters", MinLength: minSymbol, MaxLength: maxSymbol, Advisory: true},
		sessionField(),
		{Name: "symbol_type", Type: tools.String, Nullable: true, Default: "any", Description: "What the symbol is; decides which patterns are tried",
			Enum: []string{"function", "type", "variable", "constant", "any"}},
		{Name: "defined_in", Type: tools.String, Nullable: true, Description: "File to leave out: a path or the end of one"},
		{Name: "include_definition", Type: tools.Boolean, Default: false, Description: "Keep the file of defined_in"},
		{Name: "context_lines", Type: tools.Integer, Nullable: true, Default: defaultContext, Description: "Lines to show before and after", Min: tools.Limit(0), Max: tools.Limit(maxContext)},
		{Name: "max_results", Type: tools.Integer, Nullable: true, Default: defaultReferences, Description: "References to show at most", Min: tools.Limit(1), Max: tools.Limit(maxReferences)},
	}},
}

// reference is one line that holds a symbol.
type reference struct {
	file       codesage.File
	path       string // as it is shown
	line       int
	places     []int // first bytes of the whole occurrences in the text
	pattern    string
	base       int // hundredths
	text       lineMarks
	confidence int // hundredths
	defines    bool
}

// wanted is what a call asks for.
type wanted struct {
	symbol, kind string
	definedIn    string // empty keeps all files
	around, most int
}

func (s *set) findReferences(ctx context.Context, a tools.Arguments) (string, error) {
	w := wanted{symbol: strings.TrimSpace(a.String("symbol")), kind: a.String("symbol_type")}
	w.around, _ = a.Int("context_lines")
	w.most, _ = a.Int("max_results")
	if !a.Bool("include_definition") {
		w.definedIn = strings.TrimPrefix(a.String("defined_in"), "./")
	}
	switch n := utf8.RuneCountInString(w.symbol); {
	case n == 0:
		return "", failf(invalidParams, "Symbol cannot be empty")
	case n < minSymbol:
		return "", failf(invalidParams, "Symbol must be at least %d characters", minSymbol)
	case n > maxSymbol:
		return "", failf(invalidParams, "Symbol must be at most %d characters", maxSymbol)
	}
	x, err := s.open(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	report := report{session: x, wanted: w, disk: x.disk()}
	defer report.disk.close()
	if report.found, err = s.references(ctx, x, w); err != nil {
		return "", err
	}
	report.dropMissing()
	sortReferences(report.found)
	report.total = len(report.found)
	report.found = report.found[:min(w.most, report.total)]
	return s.reportReferences(ctx, &report)
}

// references returns every line of the session that holds the symbol, with its
// confidence, in path order.
func (s *set) references(ctx context.Context, x session, w wanted) ([]reference, error) {
	paths, all, err := s.Index.Candidates(ctx, x.snapshot, index.Literal(w.symbol))
	if err != nil {
		return nil, s.searchError(x, err)
	}
	want := func(f codesage.File) bool {
		_, ok := paths[f.Path]
		return (all || ok) && !definitionFile(x.path(f.Path), w.definedIn) && !definitionFile(x.path(f.Path), tools.Original(w.definedIn))
	}
	var found []reference
	err = s.Store.Texts(ctx, x.snapshot, "", want, func(t store.Text) error {
		refs := scan(t.Text, w.symbol, w.kind)
		if len(refs) == 0 {
			return nil
		}
		for i := range refs {
			refs[i].file, refs[i].path = t.File, x.path(t.Path)
		}
		if err := s.judge(ctx, x, w.symbol, t, refs); err != nil {
			return err
		}
		found = append(found, refs...)
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("find references in session %s: %w", x.Session, err)
	}
	return found, nil
}

// definitionFile reports whether a file is the one that defined_in names.
func definitionFile(path, definedIn string) bool {
	return definedIn != "" && (path == definedIn || strings.HasSuffix(path, "/"+definedIn))
}

// judge sets the confidence of the references of one file, and marks those that
// define the symbol.
func (s *set) judge(ctx context.Context, x session, symbol string, t store.Text, refs []reference) error {
	spans, ok, err := s.Store.Spans(ctx, x.snapshot, t.Path)
	if err != nil {
		return fmt.Errorf("read spans of %s: %w", t.Path, err)
	}
	for i := range refs {
		r := &refs[i]
		if ok {
			r.text = spanMarks(spans, r.places)
		}
		r.confidence = confidence(r.base, t.Path, r.text)
		r.places = nil // a line can hold very many
	}
	if t.Entities == 0 {
		return nil
	}
	entities, err := s.Store.FileEntities(ctx, x.snapshot, t.Path)
	if err != nil {
		return fmt.Errorf("read entities of %s: %w", t.Path, err)
	}
	for _, e := range entities {
		if e.NameLine == 0 || e.Name != symbol || e.Type == codesage.EntityImport {
			continue
		}
		if at, known := slices.BinarySearchFunc(refs, e.NameLine, func(r reference, line int) int { return cmp.Compare(r.line, line) }); known {
			refs[at].defines = true
		}
	}
	return nil
}

// sortReferences orders by confidence, then path, then line.
func sortReferences(refs []reference) {
	slices.SortFunc(refs, func(a, b reference) int {
		return cmp.Or(cmp.Compare(b.confidence, a.confidence), strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
}
