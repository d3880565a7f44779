package conformance

import "strings"

// names reads the scenarios of a role from a file of the suite's, a list of
// requirements or of expected failures. It knows as much YAML as they use: lists
// below keys, and for those that do not count, maps in the list not_scored that
// name the role as leg.
func names(text []byte, role string) (listed, unscored []string) {
	key, scenario := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, _, _ = strings.Cut(line, " #")
		if name, ok := strings.CutSuffix(line, ":"); ok && name == strings.TrimSpace(name) {
			key = name
			continue
		}
		item := strings.TrimSpace(line)
		entry, isEntry := strings.CutPrefix(item, "- ")
		switch {
		case key == role && isEntry:
			listed = append(listed, strings.TrimSpace(entry))
		case key != "not_scored":
		case isEntry:
			scenario = strings.TrimSpace(strings.TrimPrefix(entry, "scenario:"))
		case item == "leg: "+role:
			unscored = append(unscored, scenario)
		}
	}
	return listed, unscored
}
