package index

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// guard runs fn, which reads mapped memory. A file that was cut short while it
// was mapped, or a disk that cannot deliver a page, raises a fault there; it
// becomes an error instead of the end of the process. Every reader of mapped
// memory goes through guard. Other panics pass.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface {
			runtime.Error
			Addr() uintptr
		})
		if !ok {
			panic(r)
		}
		err = fmt.Errorf("read mapped index: %w: %w", ErrCorrupt, fault)
	}()
	return fn()
}
