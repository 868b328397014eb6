package main

import (
	"testing"

	"codesage/pipeline/source/git/gittest"
)

// gitSettings make the program reach the git hosts of a test, which have any
// name.
func gitSettings(t *testing.T, hosts *gittest.Server) settings {
	t.Helper()
	return settings{"CODESAGE_GIT_PROXY=" + hosts.Proxy(), trusting(t, hosts.CertificatePEM())}
}
