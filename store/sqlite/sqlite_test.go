package sqlite_test

import (
	"testing"

	"codesage/store"
	"codesage/store/sqlite/sqlitetest"
	"codesage/store/storetest"
)

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return sqlitetest.Open(t) })
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, sqlitetest.Open(b)) }
