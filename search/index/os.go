package index

import (
	"io"
	"os"
)

// readFile returns the content of a file, for where it can't be mapped safely.
func readFile(f *os.File, size int) ([]byte, func() error, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
