package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"codesage"
)

// CheckRoot returns the absolute path of a folder with all links resolved. The
// folder must be one of the roots or lie below one, part by part: /w/app-secret
// is not below /w/app. Roots may be links themselves. The root "/" allows every
// folder, no roots allow none.
//
// Errors: KindNotFound when there is no such path, KindInvalid when it is not a
// folder, KindDenied when it is outside the roots or can't be read. Outside
// the roots the answer does not tell whether the path exists.
func CheckRoot(path string, roots []string) (canonical string, err error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", codesage.Errorf(codesage.KindInvalid, "Path must be the path of a folder")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", pathError(path, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if !below(abs, roots) {
			return "", outside(path)
		}
		return "", pathError(path, err)
	}
	if !below(real, realPaths(roots)) {
		return "", outside(path)
	}
	if err := checkFolder(real); err != nil {
		return "", err
	}
	return real, nil
}

// checkFolder reports why a path can't be indexed.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return pathError(path, err)
	case !info.IsDir():
		return codesage.Errorf(codesage.KindInvalid, "Path must be a directory: %s", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return pathError(path, err)
	}
	return f.Close()
}

// realPaths resolves the links in the roots. One that does not exist allows
// nothing.
func realPaths(roots []string) []string {
	var out []string
	for _, root := range roots {
		if abs, err := filepath.Abs(root); err == nil && root != "" {
			if real, err := filepath.EvalSymlinks(abs); err == nil {
				out = append(out, real)
			}
		}
	}
	return out
}

// below reports whether a path is one of the roots or lies below one.
func below(path string, roots []string) bool {
	for _, root := range roots {
		abs, err := filepath.Abs(root)
		if err != nil || root == "" {
			continue
		}
		rel, err := filepath.Rel(abs, path)
		if err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

func outside(path string) error {
	return codesage.Errorf(codesage.KindDenied, "Path is outside the folders that may be indexed (CODESAGE_LOCAL_ROOTS): %s", path)
}

// pathError words an error about the folder itself.
func pathError(path string, err error) error {
	e := &codesage.Error{Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Message = codesage.KindNotFound, "Path does not exist: "+path
	case errors.Is(err, syscall.ENOTDIR):
		e.Kind, e.Message = codesage.KindInvalid, "Path must be a directory: "+path
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Message = codesage.KindDenied, "Path can't be read by the server: "+path
	default:
		e.Kind, e.Message = codesage.KindInvalid, "Path can't be opened: "+path
	}
	return e
}
