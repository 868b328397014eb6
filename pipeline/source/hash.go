package source

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
)

// BlobHash returns the name that git gives to a file of these bytes: 40 hex
// digits.
func BlobHash(data []byte) string {
	h := sha1.New()
	h.Write([]byte("blob " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
