package spec

import (
	"strconv"
	"time"

	"github.com/tailscale/hujson"
)

// tuning is one key below "drawbridge" that sets a bound. A value that cannot be
// used leaves the server running on the default, and one beyond the bounds on the
// nearest bound; both are noted. Durations are texts such as "90s" or "1h30m".
type tuning struct {
	key      string
	min, max int64 // nanoseconds for durations
	duration bool
	set      func(*Tuning, int64)
	get      func(*Tuning) (n int64, set bool)
}

var tunings = []tuning{
	duration("connectTimeout", ms(10), hours(1), func(t *Tuning) *time.Duration { return &t.ConnectTimeout }),
	duration("handshakeTimeout", ms(10), hours(1), func(t *Tuning) *time.Duration { return &t.HandshakeTimeout }),
	duration("silenceTimeout", ms(10), hours(24), func(t *Tuning) *time.Duration { return &t.SilenceTimeout }),
	duration("callTimeout", ms(10), hours(24), func(t *Tuning) *time.Duration { return &t.CallTimeout }),
	number("maxMessageBytes", 1<<10, HardMaxMessageBytes, func(t *Tuning) *int64 { return &t.MaxMessageBytes }),
	number("queue", 1, 10_000, func(t *Tuning) *int { return &t.Queue }),
	number("poolSize", 1, 64, func(t *Tuning) *int { return &t.PoolSize }),
	{
		key: "eraTtl", max: hours(30 * 24), duration: true,
		set: func(t *Tuning, n int64) { t.EraTTL = (*time.Duration)(&n) },
		get: func(t *Tuning) (int64, bool) {
			if t.EraTTL == nil {
				return 0, false
			}
			return int64(*t.EraTTL), true
		},
	},
}

func duration(key string, min, max int64, field func(*Tuning) *time.Duration) tuning {
	t := number(key, min, max, field)
	t.duration = true
	return t
}

func number[T ~int | ~int64](key string, min, max int64, field func(*Tuning) *T) tuning {
	return tuning{
		key: key, min: min, max: max,
		set: func(t *Tuning, n int64) { *field(t) = T(n) },
		get: func(t *Tuning) (int64, bool) { return int64(*field(t)), *field(t) != 0 },
	}
}

func ms(n int64) int64    { return n * int64(time.Millisecond) }
func hours(n int64) int64 { return n * int64(time.Hour) }

func tuningKeys() []string {
	keys := []string{"concurrency"}
	for _, t := range tunings {
		keys = append(keys, t.key)
	}
	return keys
}

// extra reads the object below "drawbridge".
func (r *reader) extra(v *hujson.Value) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		r.fail(r.d.pos(v), `write an object such as {"callTimeout": "5m"}`, "%s must be an object, not %s", quote(extraKey), kindOf(v))
		return
	}
	r.members(obj, extraKey+".", func(name string, m *hujson.ObjectMember) {
		v := &m.Value
		switch name {
		case "disabled":
			if off, ok := r.flag(name, v); ok {
				r.ours = &off
			}
		case "allowInsecureHttp":
			r.insecure(v)
		case "concurrency":
			r.concurrency(v)
		default:
			for _, t := range tunings {
				if t.key == name {
					r.tune(t, v)
					return
				}
			}
			r.note(&m.Name, "%s is not known to Drawbridge%s", quote(extraKey+"."+name), extraHints.suggest(name))
		}
	})
}

func (r *reader) insecure(v *hujson.Value) {
	if r.spec.Source != User {
		r.note(v, "%s is ignored in a file that is not the user's own", quote("allowInsecureHttp"))
		return
	}
	r.spec.AllowInsecureHTTP, _ = r.flag("allowInsecureHttp", v)
}

func (r *reader) concurrency(v *hujson.Value) {
	word, _ := text(v)
	switch c := Concurrency(word); c {
	case Stateless, Pooled, Serialized:
		r.spec.Concurrency = c
	default:
		r.note(v, `%s must be "stateless", "pooled" or "serialized"; the default is used`, quote("concurrency"))
	}
}

func (r *reader) flag(key string, v *hujson.Value) (value, ok bool) {
	switch v.Value.Kind() {
	case 't', 'f':
		return v.Value.Kind() == 't', true
	}
	r.note(v, "%s must be true or false; it is ignored", quote(key))
	return false, false
}

func (r *reader) tune(t tuning, v *hujson.Value) {
	n, want := t.parse(v)
	if want != "" {
		r.note(v, "%s must be %s; the default is used", quote(t.key), want)
		return
	}
	if used := min(max(n, t.min), t.max); used != n {
		r.note(v, "%s is out of bounds; %s is used", quote(t.key), t.show(used))
		n = used
	}
	t.set(&r.spec.Tuning, n)
}

// parse reads the value, or says what it must be.
func (t tuning) parse(v *hujson.Value) (n int64, want string) {
	if t.duration {
		s, ok := text(v)
		d, err := time.ParseDuration(s)
		if !ok || err != nil {
			return 0, `a duration such as "30s"`
		}
		return int64(d), ""
	}
	lit, _ := v.Value.(hujson.Literal)
	n, err := strconv.ParseInt(string(lit), 10, 64)
	if err != nil {
		return 0, "a whole number"
	}
	return n, ""
}

func (t tuning) show(n int64) string {
	if t.duration {
		return time.Duration(n).String()
	}
	return strconv.FormatInt(n, 10)
}
