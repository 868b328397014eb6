package codesage

// EntityType is the coarse kind of an entity.
type EntityType string

// The entity types, in the order in which errors and schemas list them.
const (
	EntityFunction       EntityType = "function"
	EntityClass          EntityType = "class"
	EntityImport         EntityType = "import"
	EntityDocSection     EntityType = "doc_section"
	EntityTerraformBlock EntityType = "terraform_block"
)

// EntityTypes lists every entity type.
var EntityTypes = []EntityType{EntityFunction, EntityClass, EntityImport, EntityDocSection, EntityTerraformBlock}

// RankWeight orders hits that tie otherwise: classes first, imports last.
func (t EntityType) RankWeight() int {
	switch t {
	case EntityClass:
		return 4
	case EntityFunction, EntityTerraformBlock:
		return 3
	case EntityDocSection:
		return 2
	}
	return 1
}

// Entity is something with a name that was found in a file.
type Entity struct {
	ID          int64
	Type        EntityType
	Name        string // bare: a method is not prefixed with its class
	Description string // "Go function: Server.Start"
	Signature   string // the definition's own first line or lines up to the body, joined
	LineStart   int    // 1-based; a decorator's line belongs to its definition
	LineEnd     int    // 1-based, inclusive
	StartByte   int    // of the file's text
	EndByte     int    // exclusive
	NameLine    int    // 1-based line on which the name stands; 0 when it is not a defined symbol
}

// SpanKind tells comments from strings.
type SpanKind uint8

// The kinds of span that the symbol pass stores.
const (
	SpanComment SpanKind = 1
	SpanString  SpanKind = 2
)

// Span is a stretch of a file's text that is a comment or a string literal:
// bytes Start to End, End exclusive. The spans of a file are sorted by Start
// and do not overlap.
type Span struct {
	Start, End uint32
	Kind       SpanKind
}
