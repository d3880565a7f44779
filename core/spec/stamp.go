package spec

import (
	"os"
	"time"
)

// stamp is what can be told of a file without reading it.
type stamp struct {
	size     int64
	modified time.Time
	missing  bool
	// recent says that the file could change once more within the precision of
	// its time, so that an equal stamp proves nothing.
	recent bool
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{missing: true}
	}
	age := time.Since(info.ModTime())
	return stamp{size: info.Size(), modified: info.ModTime(), recent: age < 2*pollFast}
}
