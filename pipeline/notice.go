package pipeline

import (
	"fmt"
	"strings"

	"codesage"
)

// reasons in the order in which notices name them.
var reasons = []codesage.SkipReason{
	codesage.SkipMaxFiles, codesage.SkipMaxBytes, codesage.SkipLargeFile, codesage.SkipLargeText,
	codesage.SkipBinary, codesage.SkipParseTimeout, codesage.SkipParserCrash, codesage.SkipParseSize,
	codesage.SkipEncoding, codesage.SkipSymlink, codesage.SkipSubmodule, codesage.SkipLFS,
	codesage.SkipUnreadable, codesage.SkipPath, codesage.SkipGenerated, codesage.SkipLanguage,
}

// Notice says what a completed run left out, given the number of files that it
// indexed. It is empty when nothing is missing that a user would expect: files
// that are left out by rule (binary, links, too large, generated) are named only
// when others are missing too.
func Notice(indexed int, skipped map[codesage.SkipReason]int, l Limits) string {
	total, partial := indexed, false
	var parts []string
	for _, reason := range reasons {
		n := skipped[reason]
		if n == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %d", l.words(reason), n))
		partial = partial || reason.Partial()
		if !reason.Indexed() {
			total += n
		}
	}
	switch {
	case total == 0:
		return "No files to index: no files found"
	case indexed == 0:
		return "No files to index: " + strings.Join(parts, ", ")
	case partial:
		return fmt.Sprintf("Partially indexed: %d of %d files (%s)", indexed, total, strings.Join(parts, ", "))
	}
	return ""
}

// words names a reason together with the limit that was set.
func (l Limits) words(reason codesage.SkipReason) string {
	switch {
	case reason == codesage.SkipMaxFiles:
		return fmt.Sprintf("%s=%d", reason, l.MaxFiles)
	case reason == codesage.SkipLargeFile && l.MaxFileBytes > 0 && l.MaxFileBytes != 1_000_000:
		return fmt.Sprintf("limit INDEX_MAX_FILE_BYTES=%d", l.MaxFileBytes)
	case reason == codesage.SkipLargeText && l.MaxFileBytes > 0 && l.MaxFileBytes != 10<<20:
		return fmt.Sprintf("over %d bytes", l.MaxFileBytes)
	}
	return string(reason)
}
