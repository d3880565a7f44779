package secrets

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mask stands in for a secret value. It is the same for every value, so it
// tells nothing of a value's length.
const Mask = "•••"

// A Masker replaces the values it knows, and their usual encodings, in text
// that leaves the process (K4). The zero value knows none. It is safe for
// concurrent use, and made for few calls of Add and very many of Mask.
//
// A value of less than four bytes is replaced only where no letter or digit
// touches it: anywhere else it would be noise, and the gaps would spell it out.
type Masker struct {
	mu      sync.Mutex // held to add
	values  map[string]struct{}
	forms   map[string]struct{} // of all values
	current atomic.Pointer[patterns]
}

// Add makes values known. They stay known when the secret changes: what was
// logged under an old value is still a secret.
func (m *Masker) Add(values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values, m.forms = make(map[string]struct{}), make(map[string]struct{})
	}
	before := len(m.values)
	for _, v := range values {
		if _, known := m.values[v]; known || v == "" {
			continue
		}
		m.values[v] = struct{}{}
		for _, form := range forms(v) {
			m.forms[form] = struct{}{}
		}
	}
	if len(m.values) > before {
		m.current.Store(compile(m.forms))
	}
}

// Mask returns s with every known value replaced.
func (m *Masker) Mask(s string) string {
	p := m.current.Load()
	if p == nil || len(s) == 0 {
		return s
	}
	return p.mask(s)
}

// Store returns a Store that passes everything on to s, and makes the values
// that go in or out known to m before they can appear anywhere.
func (m *Masker) Store(s Store) Store { return maskedStore{s, m} }

type maskedStore struct {
	Store
	masker *Masker
}

func (s maskedStore) Get(ctx context.Context, name string) (string, error) {
	value, err := s.Store.Get(ctx, name)
	if err == nil {
		s.masker.Add(value)
	}
	return value, err
}

func (s maskedStore) Set(ctx context.Context, name, value string) error {
	s.masker.Add(value)
	return s.Store.Set(ctx, name, value)
}

// window is how many bytes of a pattern its bucket is found by.
const window = 4

// patterns finds many texts in one pass: a bit per hash of four bytes rejects
// nearly every position, and a map of buckets decides the rest.
type patterns struct {
	filter  [1 << 16 / 64]uint64
	buckets map[uint32][]string // longest first
	short   []string            // less than window bytes
	longest int
}

func compile(texts map[string]struct{}) *patterns {
	p := &patterns{buckets: make(map[uint32][]string)}
	for t := range texts {
		p.longest = max(p.longest, len(t))
		if len(t) < window {
			p.short = append(p.short, t)
			continue
		}
		key := load(t)
		h := hash(key)
		p.filter[h/64] |= 1 << (h % 64)
		p.buckets[key] = append(p.buckets[key], t)
	}
	for _, b := range p.buckets {
		slices.SortFunc(b, func(x, y string) int {
			return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x, y))
		})
	}
	return p
}

func load(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// hash maps four bytes to 16 bits (Fibonacci hashing).
func hash(key uint32) uint32 { return key * 2654435769 >> 16 }

// match returns the length of the longest pattern that s begins with, or 0.
func (p *patterns) match(s string) int {
	for _, t := range p.buckets[load(s)] {
		if strings.HasPrefix(s, t) {
			return len(t)
		}
	}
	return 0
}

type span struct{ from, to int }

func (p *patterns) mask(s string) string {
	runs := p.find(s)
	if len(runs) == 0 {
		return s
	}
	var b strings.Builder
	end := 0
	for _, r := range runs {
		b.WriteString(s[end:r.from])
		b.WriteString(Mask)
		end = r.to
	}
	b.WriteString(s[end:])
	return b.String()
}

// cut returns where s can be divided so that masking the two pieces apart, the
// second with whatever follows it, shows no more than masking the whole.
func (p *patterns) cut(s string) int {
	// What begins before this is complete in s.
	end := max(0, len(s)-p.longest+1)
	for _, r := range p.find(s) {
		if r.from < end && end < r.to {
			return r.from
		}
	}
	return end
}

// find returns the places where patterns are in s, in order. Overlapping ones
// are one place: the rest of a value that begins inside another must not stay.
func (p *patterns) find(s string) []span {
	var found []span
	for i := 0; i+window <= len(s); i++ {
		h := hash(load(s[i:]))
		if p.filter[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		if n := p.match(s[i:]); n > 0 {
			found = append(found, span{i, i + n})
		}
	}
	if len(p.short) > 0 {
		for _, t := range p.short {
			found = appendAlone(found, s, t)
		}
		slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	}
	runs := found[:0]
	for _, f := range found {
		if last := len(runs) - 1; last >= 0 && f.from < runs[last].to {
			runs[last].to = max(runs[last].to, f.to)
			continue
		}
		runs = append(runs, f)
	}
	return runs
}

// appendAlone appends the spans of s where t stands alone.
func appendAlone(found []span, s, t string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], t)
		if i < 0 {
			return found
		}
		i += from
		end := i + len(t)
		if (i == 0 || !alphanumeric(s[i-1])) && (end == len(s) || !alphanumeric(s[end])) {
			found = append(found, span{i, end})
		}
		from = i + 1
	}
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
