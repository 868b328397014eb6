package api

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"codesage"
	"codesage/store"
)

type text = store.Text

// newText is a file as a run stores it.
func newText(path, content string) store.Text {
	sum := sha1.Sum([]byte(path + content))
	return store.Text{
		File: codesage.File{Path: path, Hash: hex.EncodeToString(sum[:]), Language: "text", Size: int64(len(content)), Lines: strings.Count(content, "\n")},
		Text: content,
	}
}
