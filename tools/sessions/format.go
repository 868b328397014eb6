package sessions

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"codesage/search"
	"codesage/tools"
)

// Forms in which times are shown.
const (
	isoTime    = "2006-01-02T15:04:05Z"
	minuteTime = "2006-01-02 15:04 UTC"
	secondTime = "2006-01-02 15:04:05 UTC"
)

// byteSize is a number of bytes for people: binary units, two decimals.
func byteSize(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value := float64(n)
	for _, unit := range []string{"KB", "MB"} {
		if value /= 1024; value < 1024 {
			return fmt.Sprintf("%.2f %s", value, unit)
		}
	}
	return fmt.Sprintf("%.2f GB", value/1024)
}

// count writes a number with commas between its thousands.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// ago says how long before now a time was, in whole units.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int(d / unit.size); {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}

func (s *set) stamp(t time.Time, layout string) string {
	return fmt.Sprintf("%s (%s)", t.UTC().Format(layout), ago(t, s.Now()))
}

// fenced puts a text into a code fence that the text can't close.
func fenced(language, text string) string {
	if language == "text" {
		language = ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + language + "\n" + text + fence
}

// shown is a piece of text without the CRs before its LFs.
func shown(text string) string {
	return strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\r")
}

// numberedLine is a line with its number in front.
func numberedLine(n int, text string) string { return fmt.Sprintf("%4d | %s", n, text) }

// cutBytes returns at most n bytes of s, ending at a character border.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// code is a text of others, such as a path, as a code span of one line.
func code(text string) string {
	text = tools.OneLine(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	fence := "``"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + " " + text + " " + fence
}

// shellWord is a path as a shell takes it, whatever is in it.
func shellWord(path string) string {
	isPlain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+@%,:=", r)
	}
	line := tools.OneLine(path)
	switch {
	case line != path:
		return "$'" + strings.ReplaceAll(line, "'", `\'`) + "'"
	case strings.ContainsFunc(path, func(r rune) bool { return !isPlain(r) }):
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// echo is an argument as messages repeat it.
func echo(s string) string { return search.FirstChars(s, 300) }
