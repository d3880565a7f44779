package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check returns what is wrong with the values, one message for each field, "" where
// nothing is. ok says that nothing is wrong anywhere.
func (f *Form) Check(vs Values) (problems []string, ok bool) {
	problems, ok = make([]string, len(f.Fields)), true
	for i, fd := range f.Fields {
		problems[i] = fd.Check(vs[i])
		ok = ok && problems[i] == ""
	}
	return problems, ok
}

// Check returns what is wrong with a value in a few words, or "". The words are
// ours, but for bounds and a pattern, which are the schema's and may be long.
func (f *Field) Check(v Value) string {
	if !v.Set {
		if !f.Required {
			return ""
		}
		if f.Kind == Choice || f.Kind == Bool {
			return "Choose one."
		}
		return "This is required."
	}
	switch f.Kind {
	case Text:
		return f.checkText(v.Text)
	case Number, Integer:
		return f.checkNumber(strings.TrimSpace(v.Text))
	case Choice:
		if len(v.Picks) != 1 || !f.within(v.Picks) {
			return "Choose one."
		}
	case Multi:
		if !f.within(v.Picks) {
			return "Choose from the list."
		}
		return f.checkCount(len(v.Picks))
	case JSON:
		return f.checkJSON(v.Text)
	}
	return ""
}

func (f *Field) within(picks []int) bool {
	for _, i := range picks {
		if i < 0 || i >= len(f.Options) {
			return false
		}
	}
	return true
}

func (f *Field) checkText(s string) string {
	n := utf8.RuneCountInString(s)
	switch {
	case f.min.text != "" && less(n, f.min.text):
		return "At least " + plural(f.min.text, "character") + "."
	case f.max.text != "" && more(n, f.max.text):
		return fmt.Sprintf("At most %s; these are %d.", plural(f.max.text, "character"), n)
	case f.pattern != nil && !f.pattern.MatchString(s):
		return "This must match the pattern " + f.pattern.String()
	}
	return checkFormat(f.Format, s)
}

func (f *Field) checkNumber(s string) string {
	r, ok := rational(s)
	switch {
	case !ok && f.Kind == Integer:
		return "Enter a whole number, such as 12."
	case !ok:
		return "Enter a number, such as 1.5."
	case f.Kind == Integer && !r.IsInt():
		return "This must be a whole number."
	}
	if least, ok := rational(f.min.text); ok {
		if c := r.Cmp(least); c < 0 || c == 0 && f.min.open {
			return bounded("At least", "More than", f.min)
		}
	}
	if most, ok := rational(f.max.text); ok {
		if c := r.Cmp(most); c > 0 || c == 0 && f.max.open {
			return bounded("At most", "Less than", f.max)
		}
	}
	if m, ok := rational(f.multipleOf); ok && !r.Quo(r, m).IsInt() {
		return "This must be a multiple of " + f.multipleOf + "."
	}
	return ""
}

func bounded(closed, open string, l limit) string {
	if l.open {
		return open + " " + l.text + "."
	}
	return closed + " " + l.text + "."
}

func (f *Field) checkCount(n int) string {
	switch {
	case f.min.text != "" && less(n, f.min.text):
		return "Choose at least " + f.min.text + "."
	case f.max.text != "" && more(n, f.max.text):
		return "Choose at most " + f.max.text + "."
	}
	return ""
}

func (f *Field) checkJSON(s string) string {
	raw := json.RawMessage(strings.TrimSpace(s))
	if p := Syntax(raw); p != "" {
		return p
	}
	switch {
	case f.Shape == "array" && raw[0] != '[':
		return "This must be a JSON array: [ … ]."
	case f.Shape == "object" && raw[0] != '{':
		return "This must be a JSON object: { … }."
	}
	return ""
}

func less(n int, bound string) bool { return compare(n, bound) < 0 }
func more(n int, bound string) bool { return compare(n, bound) > 0 }

// compare compares a count with a natural number of any size.
func compare(n int, bound string) int {
	a, _ := rational(fmt.Sprint(n))
	b, ok := rational(bound)
	if !ok {
		return 0
	}
	return a.Cmp(b)
}

func plural(n, word string) string {
	if n == "1" {
		return n + " " + word
	}
	return n + " " + word + "s"
}
