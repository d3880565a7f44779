package spec

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"reflect"
	"slices"
	"strings"
)

// Fingerprint returns what pins, grants, verdicts and workspace permissions hang
// on (P6): a hex digest of command, arguments, working directory, URL, and the
// names and literal values of environment and headers. References count as they
// are written, so that a rotated secret changes nothing; tuning, the name and the
// switch do not count. The order of env and of headers means nothing.
func Fingerprint(s *Spec) string {
	d := digest{sha256.New()}
	d.texts("drawbridge-spec-1")
	d.texts(s.Command, s.Dir, s.URL)
	d.texts(s.Args...)
	d.vars(sorted(s.Env, asIs))
	d.vars(sorted(s.Headers, strings.ToLower))
	return hex.EncodeToString(d.Sum(nil))
}

// digest hashes lists of texts so that no two lists look the same.
type digest struct{ hash.Hash }

func (d digest) texts(list ...string) {
	d.Write(binary.BigEndian.AppendUint64(nil, uint64(len(list))))
	for _, t := range list {
		d.Write(binary.BigEndian.AppendUint64(nil, uint64(len(t))))
		d.Write([]byte(t))
	}
}

func (d digest) vars(vars []Var) {
	for _, v := range vars {
		value := sha256.Sum256([]byte(v.Value))
		d.texts(v.Name, string(value[:]))
	}
	d.texts()
}

func asIs(name string) string { return name }

// sorted returns vars in the order of their names, spelled by fold.
func sorted(vars []Var, fold func(string) string) []Var {
	list := make([]Var, 0, len(vars))
	for _, v := range vars {
		list = append(list, Var{fold(v.Name), v.Value})
	}
	slices.SortStableFunc(list, func(a, b Var) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Equal reports whether a and b are the same server in every respect, tuning and
// switch included: if not, it is restarted. The order of env and of headers means
// nothing.
func Equal(a, b *Spec) bool {
	if a == nil || b == nil {
		return a == b
	}
	return reflect.DeepEqual(canonical(a), canonical(b))
}

// canonical returns s with everything that means nothing taken out.
func canonical(s *Spec) Spec {
	c := *s
	c.Args = append([]string{}, s.Args...)
	c.Env = sorted(s.Env, asIs)
	c.Headers = sorted(s.Headers, strings.ToLower)
	return c
}
