package form

import "strings"

// Hint says in a few words what a field takes, before anything is typed; "" when
// there is nothing to say. The words are ours, the bounds the schema's.
func (f *Field) Hint() string {
	switch f.Kind {
	case Text:
		return sentence(formatHint(f.Format), span(f.min, f.max, " characters"))
	case Number:
		return sentence("number", span(f.min, f.max, ""), multiple(f.multipleOf))
	case Integer:
		return sentence("whole number", span(f.min, f.max, ""), multiple(f.multipleOf))
	case Multi:
		if s := span(f.min, f.max, ""); s != "" {
			return "choose " + s
		}
	case JSON:
		switch f.Shape {
		case "array":
			return "JSON array: [ … ]"
		case "object":
			return "JSON object: { … }"
		}
		return "any JSON value"
	}
	return ""
}

func formatHint(format string) string {
	switch format {
	case "email":
		return "email address"
	case "uri":
		return "complete address, such as https://example.com"
	case "date":
		return "date, such as 2026-07-28"
	case "date-time":
		return "date and time, such as 2026-07-28T14:30:00Z"
	}
	return ""
}

// span says a range in words.
func span(min, max limit, unit string) string {
	low, high := min.text, max.text
	if low == "0" && unit != "" {
		low = ""
	}
	switch {
	case low == "" && high == "":
		return ""
	case high == "" && min.open:
		return "more than " + low + unit
	case high == "":
		return "at least " + low + unit
	case low == "" && max.open:
		return "less than " + high + unit
	case low == "":
		return "at most " + high + unit
	case low == high:
		return "exactly " + low + unit
	case min.open || max.open:
		return span(min, limit{}, unit) + " and " + span(limit{}, max, unit)
	}
	return low + " to " + high + unit
}

func multiple(of string) string {
	if of == "" {
		return ""
	}
	return "a multiple of " + of
}

func sentence(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ", ")
}
