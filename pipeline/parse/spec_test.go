package parse

import "testing"

func TestEverySpecFitsItsGrammar(t *testing.T) {
	t.Parallel()
	for name, o := range languages {
		if _, err := o.get(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
