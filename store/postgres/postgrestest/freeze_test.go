//go:build unix

package postgrestest

import (
	"context"
	"testing"
	"time"
)

func TestAFrozenServerAnswersNothingUntilItThaws(t *testing.T) {
	t.Parallel()
	s := StartPrivate(t)
	s.Freeze(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.exec(ctx, `SELECT 1`); err == nil {
		t.Error("a frozen server answered")
	}
	s.Thaw(t)
	if err := s.exec(t.Context(), `SELECT 1`); err != nil {
		t.Errorf("a thawed server: %v", err)
	}
	s.Freeze(t) // it ends with the test all the same
}
