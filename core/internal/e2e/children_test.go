package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// childOf returns a child process of pid; 0 when it has none.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0
	}
	for _, task := range tasks {
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(list)) {
			if n, err := strconv.Atoi(field); err == nil {
				return n
			}
		}
	}
	return 0
}
