package soak

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// reading is what this process holds at one moment.
type reading struct {
	goroutines, files, children int
	heap                        uint64 // bytes in use after a collection
}

func (r reading) String() string {
	return fmt.Sprintf("%d goroutines, %d file descriptors, %d child processes, %.1f MiB of heap",
		r.goroutines, r.files, r.children, float64(r.heap)/(1<<20))
}

func measure(t testing.TB) reading {
	t.Helper()
	runtime.GC()
	runtime.GC() // the second frees what the first one finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return reading{runtime.NumGoroutine(), len(files), len(children()), m.HeapAlloc}
}

// children returns the processes that are ours, dead ones that nobody has waited for
// included.
func children() (pids []int) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		list, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
