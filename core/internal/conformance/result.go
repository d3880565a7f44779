package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Scenario is what the suite wrote down about one scenario.
type Scenario struct {
	Checks []Check
	// Complaint is what the program under test wrote to stderr, which it does when
	// it fails.
	Complaint string
}

// Check is one thing that the suite looked at.
type Check struct {
	ID           string `json:"id"`
	Status       string `json:"status"` // SUCCESS, FAILURE, WARNING, INFO or SKIPPED
	ErrorMessage string `json:"errorMessage"`
}

func (s *Scenario) count(status string) int {
	n := 0
	if s != nil {
		for _, c := range s.Checks {
			if c.Status == status {
				n++
			}
		}
	}
	return n
}

// Passed reports whether nothing failed, and something was looked at: the suite
// takes a scenario without checks for a success.
func (s *Scenario) Passed() bool { return s.count("SUCCESS") > 0 && s.count("FAILURE") == 0 }

// Clean reports whether it passed without a warning and without a complaint.
func (s *Scenario) Clean() bool { return s.Passed() && s.count("WARNING") == 0 && s.Complaint == "" }

// skipped reports whether the suite looked at nothing and says so.
func (s *Scenario) skipped() bool {
	return s != nil && len(s.Checks) > 0 && s.count("SKIPPED") == len(s.Checks)
}

// onlyLate reports whether nothing but the measured time is wrong.
func (s *Scenario) onlyLate() bool {
	if s == nil || s.Clean() || s.Complaint != "" {
		return false
	}
	for _, c := range s.Checks {
		if (c.Status == "FAILURE" || c.Status == "WARNING") && c.ID != timedCheck {
			return false
		}
	}
	return s.count("SUCCESS") > 0
}

// faults says in one line each what is wrong.
func (s *Scenario) faults() []string {
	if s == nil {
		return []string{"it was not run"}
	}
	var out []string
	for _, c := range s.Checks {
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			out = append(out, fmt.Sprintf("%s %s: %s", strings.ToLower(c.Status), c.ID, c.ErrorMessage))
		}
	}
	if s.count("SUCCESS") == 0 && len(out) == 0 {
		out = append(out, "nothing was checked")
	}
	if s.Complaint != "" {
		out = append(out, "the program said: "+s.Complaint)
	}
	return out
}

// stamp is what the suite appends to a scenario's name for its folder.
var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$`)

// read reads a folder of results of a leg: one folder a scenario, named after it,
// deeper where the name has slashes. Those of servers say so before the name, and
// have no output of a program.
func read(dir, leg string) (map[string]*Scenario, error) {
	found := map[string]*Scenario{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "checks.json" {
			return err
		}
		folder := filepath.Dir(path)
		name, err := filepath.Rel(dir, folder)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s := &Scenario{}
		if err := json.Unmarshal(text, &s.Checks); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		said, err := os.ReadFile(filepath.Join(folder, "stderr.txt"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.Complaint = strings.TrimSpace(string(said))
		name = stamp.ReplaceAllString(filepath.ToSlash(name), "")
		if leg == "server" {
			name = strings.TrimPrefix(name, "server-")
		}
		found[name] = s
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	return found, nil
}
