package a

import (
	"fmt"
	x "os"
)
import "io"

// Server s
type Server[T any] struct { // c
	a int
}

type (
	A = int
	B interface {
		Read(p []byte) (n int,
			err error)
	}
)

func (s *Server[T]) Start(a int, // first
	b string) error {
	return fmt.Errorf("x")
}

var fn = func(a int) { x := "a" + `b`; _ = 'c' }

func Fine() {}
