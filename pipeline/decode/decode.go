// Package decode turns the bytes of a file into text, or says why they are not
// text. It knows the file's name and bytes only, so every source gets the same
// answer.
package decode

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"codesage"
)

const (
	sniff         = 8 << 10 // bytes in which a NUL means binary
	printableGoal = 95      // per cent of a Latin-1 text that must be printable
	pointerMax    = 1024    // bytes of the largest git-lfs pointer
)

// Decode returns the text of a file as valid UTF-8 without a byte-order mark,
// or the reason why it has none: binary, git-lfs pointer or encoding. The rules
// hold in this order:
//
//  1. A name with a known binary extension is binary whatever the file holds.
//  2. A git-lfs pointer is left out.
//  3. UTF-16 with a mark is decoded.
//  4. A NUL in the first 8 KiB means binary.
//  5. UTF-8 is kept as it is, without its mark.
//  6. Other bytes are Latin-1 when 95 % of them are printable or white space.
//
// The text's byte offsets are its own: where a mark was dropped or bytes were
// converted, they differ from those on disk.
func Decode(path string, data []byte) (text string, reason codesage.SkipReason) {
	switch {
	case BinaryName(path):
		return "", codesage.SkipBinary
	case Pointer(data):
		return "", codesage.SkipLFS
	}
	if order, ok := utf16Order(data); ok {
		return decodeUTF16(data[2:], order)
	}
	if bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 {
		return "", codesage.SkipBinary
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if utf8.Valid(data) {
		return string(data), ""
	}
	return decodeLatin1(data)
}

// Pointer reports whether data is the text that git-lfs leaves in place of a
// file.
func Pointer(data []byte) bool {
	if len(data) > pointerMax {
		return false
	}
	s := string(data)
	known := strings.HasPrefix(s, "version https://git-lfs.github.com/spec/") ||
		strings.HasPrefix(s, "version https://hawser.github.com/spec/")
	return known && strings.Contains(s, "\noid ") && strings.Contains(s, "\nsize ")
}

// utf16Order returns the byte order that a UTF-16 mark names. The mark of
// UTF-32 begins like one of UTF-16; what follows it is left to the NUL rule.
func utf16Order(data []byte) (order binary.ByteOrder, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xFE\x00\x00")):
		return nil, false
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return binary.LittleEndian, true
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return binary.BigEndian, true
	}
	return nil, false
}

// decodeUTF16 converts what follows the mark. Units that are no character
// become U+FFFD; when more than one in twenty is, the bytes were not UTF-16.
func decodeUTF16(data []byte, order binary.ByteOrder) (string, codesage.SkipReason) {
	var b strings.Builder
	b.Grow(len(data))
	units, bad := 0, len(data)%2
	for i := 0; i+1 < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		units++
		if r == 0 && i < sniff {
			return "", codesage.SkipBinary
		}
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i+3 < len(data) {
				low = rune(order.Uint16(data[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				bad++
			} else {
				i += 2
			}
		}
		b.WriteRune(r)
	}
	if len(data)%2 == 1 {
		b.WriteRune(utf8.RuneError)
	}
	if bad > 1 && bad*20 > units {
		return "", codesage.SkipEncoding
	}
	return b.String(), ""
}

// decodeLatin1 converts bytes that are not UTF-8.
func decodeLatin1(data []byte) (string, codesage.SkipReason) {
	printable, high := 0, 0
	for _, c := range data {
		if c >= utf8.RuneSelf {
			high++
		}
		if printableLatin1(c) {
			printable++
		}
	}
	if printable*100 < len(data)*printableGoal {
		return "", codesage.SkipEncoding
	}
	var b strings.Builder
	b.Grow(len(data) + high)
	for _, c := range data {
		b.WriteRune(rune(c))
	}
	return b.String(), ""
}

func printableLatin1(c byte) bool {
	return c >= 0x20 && c < 0x7F || c >= 0xA0 || c >= '\t' && c <= '\r'
}
