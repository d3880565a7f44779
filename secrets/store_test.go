package secrets

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// K1: the names a reference can have.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN":           true,
		"a":                      true,
		"my.server-1_x":          true,
		strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false,
		"":                       false,
		"a b":                    false,
		"a/b":                    false,
		"a}":                     false,
		"ü":                      false,
		"a\n":                    false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v", name, got)
		}
	}
}

// The same refusals from every store, before anything is touched.
func TestStoresRefuse(t *testing.T) {
	v := newVault()
	v.absent = errors.New("the keyring was touched")
	for kind, s := range map[string]Store{"memory": new(Memory), "keyring": openTest(t, v)} {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			pasted := "ghp_pasted token"
			for _, err := range []error{
				s.Set(ctx, pasted, "v"), s.Delete(ctx, pasted), second(s.Get(ctx, pasted)),
			} {
				if !errors.Is(err, ErrBadName) || strings.Contains(err.Error(), "pasted") {
					t.Errorf("bad name: %v", err)
				}
			}
			if err := s.Set(ctx, "A", ""); err == nil || errors.Is(err, ErrTooBig) {
				t.Errorf("empty value: %v", err)
			}
			if err := s.Set(ctx, "A", token(MaxValue+1)); !errors.Is(err, ErrTooBig) {
				t.Errorf("long value: %v", err)
			}
			if err := second(s.Get(ctx, "A")); !errors.Is(err, ErrNotFound) {
				t.Errorf("Get: %v", err)
			}
			if err := s.Delete(ctx, "A"); !errors.Is(err, ErrNotFound) {
				t.Errorf("Delete: %v", err)
			}
			done, cancel := context.WithCancel(ctx)
			cancel()
			_, listErr := s.List(done)
			for _, err := range []error{
				s.Set(done, "A", "v"), s.Delete(done, "A"), second(s.Get(done, "A")), listErr,
			} {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("context ended: %v", err)
				}
			}
		})
	}
}

func second(_ string, err error) error { return err }

func TestForeignErrorTextIsBoundedAndOnOneLine(t *testing.T) {
	text := foreign(errors.New("a\nb\x1b[31m" + strings.Repeat("ü", 500)))
	if len(text) > 210 || strings.ContainsAny(text, "\n\x1b") {
		t.Errorf("%q", text)
	}
}
