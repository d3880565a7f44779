package secrets

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// values draws any bytes: text, binary, with every length around the limits.
func values() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(1, -1, 9000),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 9000), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\n", " a ", "\x00", "\xff\xfe", "a\r\n", strings.Repeat("ü", 2000)}),
	)
}

// K2: values come back byte for byte, from items that fit.
func TestValuesRoundTripThroughItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := values().Draw(t, "value")
		size := rapid.IntRange(100, 3000).Draw(t, "size")
		parts := split(value, size)
		for _, p := range parts {
			if len(p) > size || p == "" {
				t.Fatalf("item of %d bytes, limit %d", len(p), size)
			}
			if strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Fatalf("item %q is not printable ASCII", p)
			}
		}
		got, err := join(parts)
		if err != nil || got != value {
			t.Fatalf("join: %q, %v", got, err)
		}
	})
}

func TestStoresReturnWhatWasSet(t *testing.T) {
	for name, open := range map[string]func() Store{
		"memory":  func() Store { return new(Memory) },
		"keyring": func() Store { return openTest(t, newVault()) },
		"masked":  func() Store { return new(Masker).Store(new(Memory)) },
	} {
		t.Run(name, func(t *testing.T) {
			store := open()
			model := map[string]string{}
			rapid.Check(t, func(t *rapid.T) {
				ctx := context.Background()
				name := rapid.SampledFrom([]string{"A", "b.c", "D-e_1"}).Draw(t, "name")
				if rapid.Bool().Draw(t, "delete") {
					err := store.Delete(ctx, name)
					if _, ok := model[name]; ok != (err == nil) {
						t.Fatalf("Delete(%s): %v", name, err)
					}
					delete(model, name)
				} else {
					value := values().Draw(t, "value")
					if err := store.Set(ctx, name, value); err != nil {
						t.Fatalf("Set(%s): %v", name, err)
					}
					model[name] = value
				}
				names, err := store.List(ctx)
				if err != nil || len(names) != len(model) || !slices.IsSorted(names) {
					t.Fatalf("List = %v, %v", names, err)
				}
				for name, want := range model {
					if got, err := store.Get(ctx, name); err != nil || got != want {
						t.Fatalf("Get(%s) = %q, %v", name, got, err)
					}
				}
			})
		})
	}
}

func TestDamagedItemsAreNoticed(t *testing.T) {
	whole := split("the value", 30)
	if len(whole) < 3 {
		t.Fatalf("%d items", len(whole))
	}
	other := split("THE VALUE", 30)
	last := len(whole) - 1
	for name, parts := range map[string][]string{
		"none":               nil,
		"the last is gone":   whole[:last],
		"the last is cut":    append(slices.Clone(whole[:last]), whole[last][:1]),
		"two are swapped":    {whole[1], whole[0], whole[2]},
		"one of another":     append(slices.Clone(whole[:last]), other[last]),
		"a newer format":     {"2." + strings.Join(whole, "")[2:]},
		"not ours":           {"plain password"},
		"no digest":          {"1.nothing"},
		"more than was kept": append(slices.Clone(whole), "AAAA"),
	} {
		if value, err := join(parts); err == nil {
			t.Errorf("%s: joined to %q", name, value)
		}
	}
}

// A keyring is a file that other programs write to.
func FuzzJoin(f *testing.F) {
	f.Add(strings.Join(split("the value", 100), ""))
	f.Add("1.")
	f.Add("1..")
	f.Add("2.ab.YQ==")
	f.Fuzz(func(t *testing.T, text string) {
		value, err := join([]string{text})
		if err != nil {
			return
		}
		if again := strings.Join(split(value, len(text)+1), ""); again != text {
			t.Errorf("%q and %q both hold the value", text, again)
		}
	})
}
