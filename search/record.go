package search

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"codesage"
)

// Records makes the records of one file from its text and entities. The n-th
// entity of a path always gets the same ObjectID, so a refresh overwrites.
func Records(repo codesage.Repository, run codesage.RunID, f codesage.File, text string, entities []codesage.Entity) []Record {
	records := make([]Record, 0, len(entities))
	for i, e := range entities {
		r := Record{
			ObjectID:       ObjectID(repo.ID, f.Path, i),
			RepositoryID:   repo.ID,
			RepositoryName: repo.Name,
			Run:            run,
			EntityType:     e.Type,
			EntityName:     e.Name,
			FilePath:       f.Path,
			Language:       f.Language,
			LineStart:      e.LineStart,
			LineEnd:        e.LineEnd,
			Signature:      e.Signature,
			Content:        FirstChars(strings.ReplaceAll(body(text, e), "\r\n", "\n"), MaxContentChars),
			Description:    e.Description,
			RankWeight:     e.Type.RankWeight(),
		}
		if f.Test {
			r.IsTest = 1
		}
		records = append(records, fit(r))
	}
	return records
}

// ObjectID names the n-th record of a path. It is short and holds no foreign
// bytes.
func ObjectID(repo codesage.RepositoryID, path string, n int) string {
	sum := sha256.Sum256([]byte(path))
	return fmt.Sprintf("%d-%s-%d", repo, hex.EncodeToString(sum[:10]), n)
}

// FirstChars returns at most n characters of s, whole ones.
func FirstChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// body is the text of an entity; offsets that don't fit the text give none.
func body(text string, e codesage.Entity) string {
	if e.StartByte < 0 || e.EndByte > len(text) || e.StartByte > e.EndByte {
		return ""
	}
	return text[e.StartByte:e.EndByte]
}

// fit cuts the long fields until the record's JSON is under MaxRecordBytes.
func fit(r Record) Record {
	for {
		data, err := json.Marshal(r)
		if err == nil && len(data) < MaxRecordBytes {
			return r
		}
		long := &r.Content
		for _, field := range []*string{&r.Signature, &r.Description, &r.EntityName, &r.FilePath} {
			if len(*field) > len(*long) {
				long = field
			}
		}
		over := max(len(data)-MaxRecordBytes+1, 16)
		*long = cut(*long, max(len(*long)-over, len(*long)/2))
	}
}

// cut returns at most n bytes of s, ending at a character border.
func cut(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.ToValidUTF8(s[:n], "")
}
