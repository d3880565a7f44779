package spec

// Gate decides whether a spec that is not the user's own may be used. It is asked
// with the exact fingerprint, because a permission is for exactly that command or
// URL (P3). Any error refuses.
type Gate func(source Source, target, fingerprint string) error

// BlockedError is blocked(source): a spec that is not the user's own may not be
// used (P3). It is the same whatever the reason, which might name host or command.
type BlockedError struct{ Source Source }

// Error gives the word of the closed taxonomy (T6).
func (e *BlockedError) Error() string { return "blocked (source)" }

// Permit is the provenance gate: asked inside every connect, before any DNS
// look-up or spawn (T3). The user's own specs pass and the gate is not asked.
// Others pass only if they use no references and gate, which may be nil, returns
// nil. The error is a [*BlockedError].
func Permit(s *Spec, gate Gate) error {
	if s.Source == User {
		return nil
	}
	if gate == nil || usesReferences(s) || gate(s.Source, s.Target(), Fingerprint(s)) != nil {
		return &BlockedError{s.Source}
	}
	return nil
}
