package codesage

// FileID is the number of a stored file. A changed file gets a new one.
type FileID int64

// File is one text file of a repository as it was indexed.
type File struct {
	ID        FileID
	Path      string // slash-separated, relative to the repository root, valid UTF-8
	Hash      string // git blob hash of the bytes on disk: 40 hex digits
	Language  string // lower-case label; "text" when nothing more is known
	Size      int64  // bytes on disk
	Lines     int    // lines of the text; a last line without LF counts
	Entities  int    // entities found in it
	Parser    int    // version of the parser that found them; 0 = the symbol pass has not been here
	Generated bool
	Test      bool
	Stamp     string // what the source needs to know that the file is unchanged without reading it
}

// SkipReason says why a file was left out, or why it has no entities.
type SkipReason string

// The reasons, in the words that people see.
const (
	SkipBinary       SkipReason = "binary"
	SkipSymlink      SkipReason = "symlink"
	SkipSubmodule    SkipReason = "submodule"
	SkipLFS          SkipReason = "git-lfs pointer"
	SkipLargeFile    SkipReason = "over 1 MB"        // git repositories: INDEX_MAX_FILE_BYTES
	SkipLargeText    SkipReason = "over 10 MB"       // folders
	SkipGenerated    SkipReason = "generated"        // lock files, minified and generated code
	SkipLanguage     SkipReason = "unknown language" // git repositories only
	SkipEncoding     SkipReason = "encoding"
	SkipUnreadable   SkipReason = "unreadable"
	SkipPath         SkipReason = "path name" // not UTF-8, or not a path that every system can hold
	SkipMaxFiles     SkipReason = "limit INDEX_MAX_FILES"
	SkipMaxBytes     SkipReason = "limit INDEX_MAX_BYTES"
	SkipParseTimeout SkipReason = "parse timeout"      // kept as text
	SkipParserCrash  SkipReason = "parser crash"       // kept as text
	SkipParseSize    SkipReason = "too large to parse" // kept as text
)

// Partial reports whether a file left out for this reason makes a run partial:
// something that a user would expect to find is not there.
func (r SkipReason) Partial() bool {
	switch r {
	case SkipMaxFiles, SkipMaxBytes, SkipEncoding, SkipUnreadable, SkipPath, SkipParseTimeout, SkipParserCrash:
		return true
	}
	return false
}

// Indexed reports whether a file with this reason is nevertheless indexed as
// text.
func (r SkipReason) Indexed() bool {
	return r == SkipParseTimeout || r == SkipParserCrash || r == SkipParseSize
}

// Skip is one file that was left out, with the reason.
type Skip struct {
	Path   string
	Reason SkipReason
}
