package secrets

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// K2, case 80: the sizes at which keyrings fail.
func TestKeyringKeepsLongValuesInItemsThatFit(t *testing.T) {
	for _, size := range []int{1, 2560, 2561, 3100, 20 << 10, MaxValue} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			v := newVault()
			v.onSet = func(_, text string) (string, error) {
				if len(text) > v.limit {
					return "", errItemTooBig
				}
				return text, nil
			}
			k := openTest(t, v)
			value := token(size)
			mustSet(t, k, "TOKEN", value)
			wantValue(t, k, "TOKEN", value)
			if size > v.limit && len(v.contents()) < 2 {
				t.Errorf("%d bytes are in one item", size)
			}
		})
	}
}

func TestKeyringReplacesAValueAndLeavesNothingBehind(t *testing.T) {
	v := newVault()
	k := openTest(t, v)
	mustSet(t, k, "TOKEN", token(9000))
	before, _ := k.index.load()
	mustSet(t, k, "TOKEN", "short")
	wantValue(t, k, "TOKEN", "short")
	if n := len(v.contents()); n != 1 {
		t.Errorf("the keyring holds %d items for one short value", n)
	}
	after, _ := k.index.load()
	if before.Secrets["TOKEN"].ID != after.Secrets["TOKEN"].ID {
		t.Error("the id changed with the value; K2 wants it stable")
	}
	if err := k.Delete(t.Context(), "TOKEN"); err != nil {
		t.Fatal(err)
	}
	if n := len(v.contents()); n != 0 {
		t.Errorf("the keyring holds %d items after the only secret was removed", n)
	}
	if _, err := k.Get(t.Context(), "TOKEN"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get after Delete: %v", err)
	}
}

// K2, case 80: a write that fails, in any way and at any item, loses nothing.
func TestKeyringKeepsTheOldValueWhenAWriteFails(t *testing.T) {
	broken := errors.New("broken")
	var writes int
	tests := []struct {
		name string
		set  func(account, text string) (string, error)
		kind error
	}{
		{"cut without a word", cut(1996), nil},
		{"emptied without a word", cut(0), nil},
		{"refused as too big", func(string, string) (string, error) { return "", errItemTooBig }, ErrTooBig},
		{"locked", func(string, string) (string, error) { return "", locked(nil) }, ErrLocked},
		{"fails at the second item", func(_, text string) (string, error) {
			if writes++; writes == 2 {
				return "", broken
			}
			return text, nil
		}, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := newVault()
			k := openTest(t, v)
			mustSet(t, k, "TOKEN", "old value")
			old := v.contents()
			v.onSet = tt.set
			writes = 0
			err := k.Set(t.Context(), "TOKEN", token(6000))
			if err == nil {
				t.Fatal("a write that did not keep the value succeeded")
			}
			if tt.kind != nil && !errors.Is(err, tt.kind) {
				t.Errorf("error %v is not of kind %v", err, tt.kind)
			}
			if e, ok := errors.AsType[*Error](err); !ok || e.Name != "TOKEN" || e.Action == "" {
				t.Errorf("error %#v does not name the secret and a next step", err)
			}
			if !strings.Contains(err.Error(), `"TOKEN"`) || strings.Contains(err.Error(), token(20)) {
				t.Errorf("error text %q", err)
			}
			wantValue(t, k, "TOKEN", "old value")
			for account := range v.contents() {
				if _, ok := old[account]; !ok {
					t.Errorf("item %s of the failed write is still in the keyring", account)
				}
			}
		})
	}
}

// Case 80: the error names the secret and the limit.
func TestTooBigNamesSecretAndLimit(t *testing.T) {
	k := openTest(t, newVault())
	err := k.Set(t.Context(), "TOKEN", token(MaxValue+1))
	if !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "TOKEN") || !strings.Contains(err.Error(), fmt.Sprint(MaxValue)) {
		t.Errorf("error %v", err)
	}
	v := newVault()
	v.onSet = func(string, string) (string, error) { return "", errItemTooBig }
	err = openTest(t, v).Set(t.Context(), "TOKEN", token(3100))
	if !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "3100") || !strings.Contains(err.Error(), "2560") {
		t.Errorf("error %v", err)
	}
}

func TestKeyringRemovesLaterWhatAnInterruptedWriteLeft(t *testing.T) {
	v := newVault()
	k := openTest(t, v)
	mustSet(t, k, "TOKEN", "old value")
	// As if the process had died: nothing of the write can be undone.
	v.onSet = cut(10)
	v.onDel = func(string) (bool, error) { return true, errors.New("died") }
	if err := k.Set(t.Context(), "TOKEN", token(6000)); err == nil {
		t.Fatal("the write succeeded")
	}
	if n := len(v.contents()); n < 3 {
		t.Fatalf("only %d items: the test does not leave any behind", n)
	}
	v.onSet, v.onDel = nil, nil
	mustSet(t, k, "OTHER", "x")
	wantValue(t, k, "TOKEN", "old value")
	if n := len(v.contents()); n != 2 {
		t.Errorf("%d items for two secrets", n)
	}
	// The value that could not be removed when it was replaced goes, too.
	v.onDel = func(string) (bool, error) { return true, errors.New("died") }
	mustSet(t, k, "TOKEN", "new value")
	v.onDel = nil
	mustSet(t, k, "TOKEN", "newer value")
	wantValue(t, k, "TOKEN", "newer value")
	if n := len(v.contents()); n != 2 {
		t.Errorf("%d items for two secrets", n)
	}
}

func TestKeyringRemovesTheOtherLeftoversWhenOneStays(t *testing.T) {
	v := newVault()
	k := openTest(t, v)
	mustSet(t, k, "TOKEN", token(6000))
	stubborn := ""
	v.onDel = func(account string) (bool, error) {
		if stubborn == "" {
			stubborn = account
		}
		return account == stubborn, errors.New("refused")
	}
	mustSet(t, k, "TOKEN", "short")
	mustSet(t, k, "TOKEN", "shorter")
	if n := len(v.contents()); n != 2 || stubborn == "" {
		t.Errorf("%d items, want the value and %q", n, stubborn)
	}
	v.onDel = nil
	mustSet(t, k, "TOKEN", "shortest")
	wantValue(t, k, "TOKEN", "shortest")
	if n := len(v.contents()); n != 1 {
		t.Errorf("%d items for one secret", n)
	}
}

// go-keyring reports a delete whose prompt was dismissed as done.
func TestKeyringDoesNotBelieveADeleteThatDidNothing(t *testing.T) {
	v := newVault()
	k := openTest(t, v)
	mustSet(t, k, "TOKEN", "value")
	v.onDel = func(string) (bool, error) { return true, nil }
	if err := k.Delete(t.Context(), "TOKEN"); err == nil {
		t.Error("Delete succeeded and the value is still there")
	}
	wantValue(t, k, "TOKEN", "value")
}

func TestKeyringDeleteCompletesWhatWasInterrupted(t *testing.T) {
	v := newVault()
	k := openTest(t, v)
	mustSet(t, k, "TOKEN", token(6000))
	removed := 0
	v.onDel = func(string) (bool, error) { removed++; return removed > 1, errors.New("died") }
	if err := k.Delete(t.Context(), "TOKEN"); err == nil {
		t.Fatal("Delete succeeded")
	}
	v.onDel = nil
	if names, _ := k.List(t.Context()); !slices.Equal(names, []string{"TOKEN"}) {
		t.Errorf("names %v while some of the value is in the keyring", names)
	}
	if err := k.Delete(t.Context(), "TOKEN"); err != nil {
		t.Error(err)
	}
	if n := len(v.contents()); n != 0 {
		t.Errorf("%d items left", n)
	}
}

// Case 79, K3: without a keyring the names are known, every value has a reason
// why it cannot be had, and nothing is written anywhere else.
func TestKeyringAbsentIsSaidPerSecretAndNothingIsKeptInPlain(t *testing.T) {
	dir := t.TempDir()
	v := newVault()
	k := openIn(t, dir, v)
	mustSet(t, k, "TOKEN", "old value")
	v.change(func() {
		v.absent = &Error{Kind: ErrUnavailable, Reason: "no keyring here", Action: "install one"}
	})

	if names, err := k.List(t.Context()); err != nil || !slices.Equal(names, []string{"TOKEN"}) {
		t.Errorf("List = %v, %v", names, err)
	}
	_, err := k.Get(t.Context(), "TOKEN")
	e, ok := errors.AsType[*Error](err)
	if !errors.Is(err, ErrUnavailable) || !ok || e.Name != "TOKEN" || e.Reason != "no keyring here" || e.Action != "install one" {
		t.Errorf("Get: %#v", err)
	}
	if err := k.Set(t.Context(), "NEW", "pl4in value"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Set: %v", err)
	}
	if err := k.Delete(t.Context(), "TOKEN"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Delete: %v", err)
	}
	if err := k.Check(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Check: %v", err)
	}
	// What was never stored is missing, keyring or not.
	if _, err := k.Get(t.Context(), "NEVER"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of an unknown name: %v", err)
	}
	wantAbsentFromDir(t, dir, "pl4in value")
	wantAbsentFromDir(t, dir, "old value")
}

func TestKeyringSaysThatAValueIsLostOrDamaged(t *testing.T) {
	v := newVault()
	k := openTest(t, v)
	mustSet(t, k, "TOKEN", "value")
	v.change(func() {
		for account, text := range v.items {
			v.items[account] = text[:len(text)-4]
		}
	})
	_, err := k.Get(t.Context(), "TOKEN")
	if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("damaged: %v", err)
	}
	v.change(func() { clear(v.items) })
	_, err = k.Get(t.Context(), "TOKEN")
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "no longer in this keyring") {
		t.Errorf("lost: %v", err)
	}
	mustSet(t, k, "TOKEN", "again")
	wantValue(t, k, "TOKEN", "again")
}

// The window and the command are two processes on one index.
func TestKeyringsOfTwoProcessesShareTheIndex(t *testing.T) {
	dir, v := t.TempDir(), newVault()
	a, b := openIn(t, dir, v), openIn(t, dir, v)
	var wg sync.WaitGroup
	for i := range 10 {
		for n, k := range []*Keyring{a, b} {
			wg.Go(func() {
				name := fmt.Sprintf("S%d.%d", n, i)
				if err := k.Set(t.Context(), name, "value of "+name); err != nil {
					t.Errorf("Set(%s): %v", name, err)
				}
			})
			wg.Go(func() {
				// Replaced all the time by the other one as well.
				if err := k.Set(t.Context(), "BOTH", fmt.Sprintf("both %d", i)); err != nil {
					t.Errorf("Set(BOTH): %v", err)
				}
				if got, err := k.Get(t.Context(), "BOTH"); err != nil || !strings.HasPrefix(got, "both ") {
					t.Errorf("Get(BOTH) = %q, %v", got, err)
				}
			})
		}
	}
	wg.Wait()
	names, err := a.List(t.Context())
	if err != nil || len(names) != 21 {
		t.Fatalf("%d names, %v", len(names), err)
	}
	for _, name := range names {
		if name != "BOTH" {
			wantValue(t, b, name, "value of "+name)
		}
	}
	if n := len(v.contents()); n != 21 {
		t.Errorf("%d items for 21 secrets", n)
	}
}

func TestIndexHoldsNoValueAndIsPrivate(t *testing.T) {
	dir := t.TempDir()
	k := openIn(t, filepath.Join(dir, "config"), newVault())
	mustSet(t, k, "TOKEN", "s3cr3t value")
	wantAbsentFromDir(t, dir, "s3cr3t")
	wantAbsentFromDir(t, dir, base64.StdEncoding.EncodeToString([]byte("s3cr3t value")))
	info, err := os.Stat(k.index.path())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	left, _ := filepath.Glob(filepath.Join(dir, "config", "*.tmp"))
	if len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestIndexThatCannotBeTrustedIsRefusedAndKept(t *testing.T) {
	for name, content := range map[string]string{
		"damaged":     `{"version":1,"secrets":{`,
		"not json":    "\x00\xff",
		"newer":       `{"version":2,"secrets":{}}`,
		"bad name":    `{"version":1,"secrets":{"a b":{"id":"X","write":"Y","parts":1}}}`,
		"bad id":      `{"version":1,"secrets":{"A":{"id":"-delete","write":"Y","parts":1}}}`,
		"no parts":    `{"version":1,"secrets":{"A":{"id":"X","write":"Y","parts":0}}}`,
		"many parts":  `{"version":1,"secrets":{"A":{"id":"X","write":"Y","parts":1000000000}}}`,
		"bad account": `{"version":1,"secrets":{},"leftovers":["-x"]}`,
		"too long":    `{"version":1,"secrets":{}}` + strings.Repeat(" ", maxIndexBytes),
	} {
		t.Run(name, func(t *testing.T) {
			k := openTest(t, newVault())
			if err := os.WriteFile(k.index.path(), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, getErr := k.Get(t.Context(), "A")
			setErr := k.Set(t.Context(), "A", "value")
			_, listErr := k.List(t.Context())
			for _, err := range []error{getErr, setErr, listErr} {
				if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Reason, IndexFile) || e.Action == "" {
					t.Errorf("error %v", err)
				}
			}
			if after, _ := os.ReadFile(k.index.path()); string(after) != content {
				t.Error("the file was changed")
			}
		})
	}
}

func TestIndexThatCannotBeWrittenFailsTheWrite(t *testing.T) {
	v := newVault()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := openIn(t, filepath.Join(file, "config"), v)
	if err := k.Set(t.Context(), "A", "value"); err == nil || !strings.Contains(err.Error(), "cannot be") {
		t.Errorf("Set: %v", err)
	}
	if n := len(v.contents()); n != 0 {
		t.Errorf("%d items without a name", n)
	}
}

// wantAbsentFromDir fails if any file under dir contains text.
func wantAbsentFromDir(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			t.Errorf("%s contains the value", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
