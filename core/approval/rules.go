package approval

// SetPolicy takes the policy file as it stands now. What it forbids, or asks about,
// holds at once; what it allows beyond what was confirmed waits for [Book.Confirm]
// (A9). The error is of [ParsePolicy], and the policy before stays in force.
func (b *Book) SetPolicy(file []byte) error {
	p, err := ParsePolicy(file)
	if err != nil {
		return err
	}
	b.change(func() bool {
		changed := b.text != string(file)
		b.policy, b.text = p, string(file)
		return changed
	})
	return nil
}

// Pending returns the policy that waits for the person's word, and what was
// confirmed last; ok is false when nothing waits.
func (b *Book) Pending() (confirmed, now string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.agreed, b.text, b.agreed != b.text
}

// Confirm takes the policy file's text as the person's own. It must be the text
// that was shown: false when the file has changed since.
func (b *Book) Confirm(text string) (ok bool) {
	b.change(func() bool {
		if ok = b.text == text; ok {
			b.confirmed, b.agreed = b.policy, b.text
		}
		return ok
	})
	return ok
}
