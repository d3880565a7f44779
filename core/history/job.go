package history

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"unicode/utf8"
)

// job makes what is written of a call: masked, and bounded.
func (l *Log) job(c Call) job {
	j := job{
		digest: l.digest(c.Arguments),
		entry: Entry{
			ID: c.Time.Add(c.Duration).UnixMicro(), Time: c.Time,
			Client: l.text(c.Client, maxName), Server: l.text(c.Server, maxName), Tool: l.text(c.Tool, maxName),
			Decision: l.text(c.Decision, maxName), Decider: l.text(c.Decider, maxName),
			Duration: c.Duration, Outcome: c.Outcome,
			ArgumentBytes: int64(len(c.Arguments)), ResultBytes: int64(len(c.Result)),
		},
	}
	if l.keep.Load() {
		j.entry.Arguments = l.text(string(c.Arguments), MaxText)
		j.entry.Result = l.text(string(c.Result), MaxText)
	}
	return j
}

// text masks a text and then cuts it, for a secret that was cut in two would not be
// known any more.
func (l *Log) text(s string, limit int) string {
	s = strings.ToValidUTF8(l.options.Mask(s), "\uFFFD")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// digest is empty before there was a file to have a key.
func (l *Log) digest(arguments []byte) []byte {
	key := l.key.Load()
	if key == nil {
		return []byte{}
	}
	h := hmac.New(sha256.New, *key)
	h.Write(arguments)
	return h.Sum(nil)
}
