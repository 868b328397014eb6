package folder

import (
	"strconv"
	"time"
)

// tick is the coarsest step of a file system's clock (FAT: two seconds). As in
// git, a file that changed within a tick of the listing has no stamp: it could
// change once more and keep its time.
const tick = 2 * time.Second

// joinStamp writes numbers compactly.
func joinStamp(numbers ...int64) string {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendInt(b, n, 36)
	}
	return string(b)
}
