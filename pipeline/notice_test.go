package pipeline

import (
	"strings"
	"testing"

	"codesage"
)

func TestNotice(t *testing.T) {
	t.Parallel()
	type skipped = map[codesage.SkipReason]int
	git := Limits{MaxFiles: 1000, MaxFileBytes: 1_000_000, Generated: true}
	for _, tc := range []struct {
		name    string
		indexed int
		skipped skipped
		limits  Limits
		want    string
	}{
		{"all", 7, nil, git, ""},
		{"only what is left out by rule", 7, skipped{codesage.SkipBinary: 3, codesage.SkipSymlink: 1, codesage.SkipLargeFile: 2, codesage.SkipGenerated: 1, codesage.SkipParseSize: 1}, git, ""},
		{"too many files", 1000, skipped{codesage.SkipMaxFiles: 200}, git, "Partially indexed: 1000 of 1200 files (limit INDEX_MAX_FILES=1000: 200)"},
		{"in their order", 10, skipped{codesage.SkipUnreadable: 1, codesage.SkipEncoding: 2, codesage.SkipBinary: 3, codesage.SkipMaxBytes: 4, codesage.SkipLargeFile: 5}, git,
			"Partially indexed: 10 of 25 files (limit INDEX_MAX_BYTES: 4, over 1 MB: 5, binary: 3, encoding: 2, unreadable: 1)"},
		{"a file kept as text is indexed", 10, skipped{codesage.SkipParseTimeout: 2}, git, "Partially indexed: 10 of 10 files (parse timeout: 2)"},
		{"another limit", 1, skipped{codesage.SkipLargeFile: 1, codesage.SkipEncoding: 1}, Limits{MaxFileBytes: 500}, "Partially indexed: 1 of 3 files (limit INDEX_MAX_FILE_BYTES=500: 1, encoding: 1)"},
		{"an empty tree", 0, nil, git, "No files to index: no files found"},
		{"nothing but images", 0, skipped{codesage.SkipBinary: 3, codesage.SkipGenerated: 1}, git, "No files to index: binary: 3, generated: 1"},
	} {
		if got := Notice(tc.indexed, tc.skipped, tc.limits); got != tc.want {
			t.Errorf("%s: Notice = %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNoticeNamesEveryReason(t *testing.T) {
	t.Parallel()
	for _, reason := range []codesage.SkipReason{
		codesage.SkipBinary, codesage.SkipSymlink, codesage.SkipSubmodule, codesage.SkipLFS, codesage.SkipLargeFile, codesage.SkipLargeText,
		codesage.SkipGenerated, codesage.SkipLanguage, codesage.SkipEncoding, codesage.SkipUnreadable, codesage.SkipPath,
		codesage.SkipMaxFiles, codesage.SkipMaxBytes, codesage.SkipParseTimeout, codesage.SkipParserCrash, codesage.SkipParseSize,
	} {
		if got := Notice(1, map[codesage.SkipReason]int{codesage.SkipUnreadable: 1, reason: 1}, Limits{}); !strings.Contains(got, string(reason)) {
			t.Errorf("notice %q does not name %q", got, reason)
		}
	}
}
