//go:build dragonfly || freebsd || netbsd || openbsd

package index

import "os"

// isRemote is not known here.
func isRemote(*os.File) bool { return false }
