package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Report is the outcome of one revision.
type Report struct {
	Role, Revision string
	// Required are the scenarios that the revision requires, Unscored those that
	// the suite runs along.
	Required, Unscored []string
	// Found holds what was run, by scenario.
	Found map[string]*Scenario
}

// Line says it in one line: how many of the required scenarios passed, and how
// many of all are clean.
func (r *Report) Line() string {
	passed, clean := 0, 0
	for _, name := range r.Required {
		if r.Found[name].Passed() {
			passed++
		}
	}
	all := r.all()
	for _, name := range all {
		if r.clean(name) {
			clean++
		}
	}
	return fmt.Sprintf("%s %s: %d/%d required, %d/%d clean", r.Role, r.Revision, passed, len(r.Required), clean, len(all))
}

// clean reports whether a scenario is clean. One that is not required is also when
// the suite skips all of it, whoever is tested.
func (r *Report) clean(name string) bool {
	s := r.Found[name]
	return s.Clean() || s.skipped() && slices.Contains(r.Unscored, name)
}

func (r *Report) all() []string { return slices.Concat(r.Required, r.Unscored) }

// Faults says what is not as expected: a scenario that is not clean and not
// expected to fail, and one that is expected to and does not.
func (r *Report) Faults(expected []string) []string {
	var out []string
	for _, name := range r.all() {
		s := r.Found[name]
		switch listed := slices.Contains(expected, name); {
		case listed && r.clean(name):
			out = append(out, name+" is clean now: take it out of the expected failures")
		case !listed && !r.clean(name):
			out = append(out, name+": "+strings.Join(s.faults(), "; "))
		}
	}
	return out
}

// Expected reads the scenarios of a role that may fail from a file in the suite's
// own format.
func Expected(file, role string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the expected failures: %w", err)
	}
	listed, _ := names(text, role)
	return listed, nil
}
