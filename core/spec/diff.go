package spec

// Changes are the names of the servers in which two files differ, each list in
// the order of the file that has them.
type Changes struct {
	Added, Removed []string
	// Changed are those to restart: another spec, tuning or switch, or one that
	// became valid or invalid, or invalid in another way. A server that merely
	// moved, or whose entry got a comment, is not among them.
	Changed []string
}

// Empty reports whether nothing differs.
func (c Changes) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// Diff compares two files; nil is a file without servers.
func Diff(old, new *File) Changes {
	var c Changes
	before, after := byName(old), byName(new)
	if new != nil {
		for _, e := range new.Entries {
			switch was, ok := before[e.Name]; {
			case !ok:
				c.Added = append(c.Added, e.Name)
			case !same(was, e):
				c.Changed = append(c.Changed, e.Name)
			}
		}
	}
	if old != nil {
		for _, e := range old.Entries {
			if after[e.Name] == nil {
				c.Removed = append(c.Removed, e.Name)
			}
		}
	}
	return c
}

func byName(f *File) map[string]*Entry {
	m := make(map[string]*Entry)
	if f != nil {
		for _, e := range f.Entries {
			m[e.Name] = e
		}
	}
	return m
}

func same(a, b *Entry) bool {
	if a.Err != nil && b.Err != nil {
		return a.Err.Sentence == b.Err.Sentence && a.Disabled == b.Disabled
	}
	return Equal(a.Spec, b.Spec)
}
