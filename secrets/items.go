package secrets

import "errors"

// The calls into the vault. Only jobs make them.

func (k *Keyring) get(account string) (string, error) {
	return call(k.owner, func() (string, error) { return k.owner.vault.get(account) })
}

func (k *Keyring) set(account, text string) error {
	_, err := call(k.owner, func() (struct{}, error) { return struct{}{}, k.owner.vault.set(account, text) })
	return err
}

// remove makes sure that there is no item for account. It looks again after
// deleting, because go-keyring reports a dismissed prompt as success.
func (k *Keyring) remove(account string) error {
	_, err := call(k.owner, func() (struct{}, error) { return struct{}{}, k.owner.vault.delete(account) })
	if errors.Is(err, errNoItem) {
		return nil
	}
	if err != nil {
		return err
	}
	switch _, err = k.get(account); {
	case errors.Is(err, errNoItem):
		return nil
	case err == nil:
		return &Error{
			Reason: "the keyring still has the value after it was removed",
			Action: "try again and allow the removal",
		}
	}
	return err
}

// fetch reads e's items and returns the value they hold.
func (k *Keyring) fetch(e entry) (string, error) {
	parts := make([]string, 0, e.Parts)
	for _, account := range e.accounts() {
		part, err := k.get(account)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return join(parts)
}
