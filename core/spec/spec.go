package spec

import "time"

// Spec is the configuration of one server as the file has it, with references
// unexpanded. A Spec is not changed after it was made and is handed around by
// pointer. However it is printed, logged or marshalled, only its redacted form
// appears (P5).
type Spec struct {
	Name   string
	Source Source
	Type   Type

	// Command, Args, Env and Dir describe a server that is started here.
	Command string
	Args    []string
	Env     []Var
	Dir     string

	// URL and Headers describe a server that is reached over HTTP.
	URL     string
	Headers []Var

	// Disabled is the person's switch.
	Disabled bool

	Tuning
}

// Source says whose file a spec comes from (P3). The zero Source is nobody's and
// is trusted like a workspace.
type Source string

// The sources.
const (
	User      Source = "user"      // servers.json
	Workspace Source = "workspace" // .mcp.json of a project folder
)

// Type says how a server is spoken to.
type Type string

// The types.
const (
	Stdio Type = "stdio"
	HTTP  Type = "http" // Streamable HTTP
	SSE   Type = "sse"  // the file asks for HTTP+SSE of 2024-11-05 (T12)
)

// Remote reports whether the server is reached by URL.
func (s *Spec) Remote() bool { return s.Type != Stdio }

// Target is the command or the URL as given: what the provenance gate is asked
// about. It may hold secrets; what is shown is [Spec.Redact]'s.
func (s *Spec) Target() string {
	if s.Remote() {
		return s.URL
	}
	return s.Command
}

// Var is one environment variable or header, in the order of the file.
type Var struct{ Name, Value string }

// Tuning is what of a spec bounds a connection and does not say what it connects
// to. Zero fields mean the default, which belongs to whoever applies it (T5, T8).
type Tuning struct {
	// ConnectTimeout bounds dialling one address.
	ConnectTimeout time.Duration
	// HandshakeTimeout bounds the initialize exchange.
	HandshakeTimeout time.Duration
	// SilenceTimeout bounds the time on the wire without a sign of life.
	SilenceTimeout time.Duration
	// CallTimeout bounds a call in all, its wait in the queue included (C2).
	CallTimeout time.Duration
	// MaxMessageBytes bounds one body, SSE event or stdio line.
	MaxMessageBytes int64
	// Queue is how many calls may wait for a slot.
	Queue int
	// PoolSize is the number of slots of a pooled session.
	PoolSize int
	// Concurrency overrides what the era implies; "" does not (T5).
	Concurrency Concurrency
	// EraTTL is how long an HTTP verdict holds; nil means the default, zero
	// probes every time (E4).
	EraTTL *time.Duration
	// AllowInsecureHTTP is the opt-in to plain http beyond loopback and private
	// networks (P4). It is never set on a spec that is not the user's own (P3).
	AllowInsecureHTTP bool
}

// Concurrency is how many calls may be on the wire at a time (T5).
type Concurrency string

// The policies.
const (
	Stateless  Concurrency = "stateless"
	Pooled     Concurrency = "pooled"
	Serialized Concurrency = "serialized"
)

// HardMaxMessageBytes is the most that MaxMessageBytes can be (T8).
const HardMaxMessageBytes = 64 << 20
