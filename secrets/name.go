package secrets

// MaxName is the length of the longest secret name, in bytes.
const MaxName = 128

// ValidName reports whether name can stand in a ${secret:NAME} reference
// (K1): 1 to MaxName ASCII letters, digits, dots, dashes and underscores.
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

// checkName refuses a name that is not valid. The name is left out of the
// error: what is not a name is easily a value pasted in the wrong place.
func checkName(op, name string) error {
	if ValidName(name) {
		return nil
	}
	return &Error{
		Op:     op,
		Kind:   ErrBadName,
		Reason: "that is not a secret name",
		Action: "use letters, digits, dots, dashes and underscores, at most 128 of them",
	}
}

// checkValue refuses a value that no store takes.
func checkValue(name, value string) error {
	switch {
	case value == "":
		return &Error{
			Op: opSet, Name: name,
			Reason: "the value is empty",
			Action: "give a value, or remove the secret with `drawbridge secret rm " + name + "`",
		}
	case len(value) > MaxValue:
		return tooBig(name, len(value), MaxValue)
	}
	return nil
}
