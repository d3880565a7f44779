package hub

import (
	"encoding/json"
	"time"
)

// Snapshot is everything a window needs to draw itself, at one moment.
type Snapshot struct {
	// Servers are in the order of the spec file.
	Servers []*Server
	// Questions are the elicitations that wait for a person, oldest first.
	Questions []*Question
	// Asks are the tool calls that wait for the person, in the order in which they are
	// shown.
	Asks    []*Ask
	Gateway GatewayState
	Config  FileState
	Keyring Keyring
}

// Server is one configured server as a person sees it. It is never changed after
// it was published; a changed server is a new value.
type Server struct {
	Name string
	// Wanted is the person's switch; State is what is true (5-ui.md).
	Wanted bool
	State  State
	// Since is when the state began.
	Since time.Time
	// RetryAt is when the next attempt starts, for Retrying and BreakerOpen.
	RetryAt time.Time
	// Sentence says in one sentence what happened; "" when all is well.
	Sentence string
	// Words are the server's own last lines beside the sentence, bounded.
	Words []string
	// Action is the one suggested next step; the zero Action is none.
	Action Action
	// Remote tells a URL server from a command server.
	Remote bool
	// Transport says in words how we talk, such as "command" or "HTTP".
	Transport string
	// Target is the redacted command line or URL (P5).
	Target string

	Era    Era
	Health Health

	// Tools and the other counts are -1 while unknown.
	Tools, Resources, Prompts int
	// Incomplete says that a list stopped early (C5).
	Incomplete bool

	ServerName, ServerVersion string
	Instructions              string
	Capabilities              []string
	// Secrets are the names of the secrets the spec uses.
	Secrets []string
	// Notes are remarks on the spec: unknown keys, plain http, a proxy.
	Notes []string
	// Subscribes says that it tells about changes of resources, Completes that it
	// completes arguments.
	Subscribes, Completes bool
	// ToolsRev, ResourcesRev, PromptsRev, FollowsRev and LogRev change when
	// Hub.Tools, Hub.Resources, Hub.Prompts, Hub.Follows or Hub.Log have something
	// new.
	ToolsRev, ResourcesRev, PromptsRev, FollowsRev, LogRev uint64
}

// State is the actual state of a server, apart from what is wanted.
type State string

// The states. Amber ones need a person, red is failure alone (5-ui.md).
const (
	Off           State = "off"            // by choice
	Blocked       State = "blocked"        // provenance gate or address policy
	Starting      State = "starting"       // spawning, dialling, probing
	Initializing  State = "initializing"   // handshake under way
	Ready         State = "ready"          //
	Retrying      State = "retrying"       // next attempt at RetryAt
	BreakerOpen   State = "breaker_open"   // next attempt at RetryAt
	WaitingSecret State = "waiting_secret" // a secret of the spec cannot be had
	SignInNeeded  State = "sign_in_needed" // 401 or 403
	Failed        State = "failed"         // will not retry by itself
	InvalidSpec   State = "invalid_spec"   // the file's entry is wrong
	ShuttingDown  State = "shutting_down"  // being stopped
)

// Action is a suggested next step, with the words of its button.
type Action struct {
	Kind  ActionKind
	Label string
	// Arg is what the action is about: a secret's name, for SetSecret.
	Arg string
}

// ActionKind is what pressing the button does.
type ActionKind string

// The actions a row can suggest.
const (
	NoAction   ActionKind = ""
	Reconnect  ActionKind = "reconnect"
	ProbeAgain ActionKind = "probe_again"
	TurnOn     ActionKind = "turn_on"
	TurnOff    ActionKind = "turn_off"
	ShowLog    ActionKind = "show_log"
	EditSpec   ActionKind = "edit_spec"  // opens the spec file
	SetSecret  ActionKind = "set_secret" // shows the command that sets it
	Reload     ActionKind = "reload"     // reads the spec file again
	// AllowParallel and KeepSerial answer whether calls to a server that takes one
	// at a time may run side by side; the answer is kept in the spec file (T5).
	AllowParallel ActionKind = "allow_parallel"
	KeepSerial    ActionKind = "keep_serialized"
)

// Era answers "why this era?".
type Era struct {
	// Modern and Legacy are both false while the era is unknown.
	Modern, Legacy bool
	// Version is the negotiated revision, "" while unknown.
	Version string
	// Evidence says in one line what was seen, such as "server/discover → 200".
	Evidence string
	At       time.Time
	// Until is when the verdict expires; zero when it does not.
	Until time.Time
	// FromCache says that this connection used a kept verdict.
	FromCache bool
}

// Health answers "why this health?".
type Health struct {
	// Latency is that of the last exchange; 0 when there was none.
	Latency time.Duration
	// Calls are the last exchanges, oldest first, at most 50.
	Calls []Call
	// Breaker is "closed", "open" or "half open"; Failures counts towards opening.
	Breaker  string
	Failures int
	// InFlight, Cap and Queued describe T5's slots.
	InFlight, Cap, Queued int
	Concurrency           string
	// LastError is the last failure's sentence and LastErrorAt its time.
	LastError   string
	LastErrorAt time.Time
	// UpSince is when the session became ready; zero when it is not.
	UpSince time.Time
	// Restarts counts attempts since the last sustained uptime.
	Restarts int
}

// Call is one exchange in the health history.
type Call struct {
	At       time.Time
	Method   string
	Duration time.Duration
	OK       bool
}

// Tool is one tool of a server.
type Tool struct {
	Name, Title, Description string
	// Hints are what the tool claims about itself, such as "claims: read-only".
	Hints []string
	// Destructive marks a tool that claims to be destructive or sensitive.
	Destructive bool
	// InputSchema is the raw schema, nil when the tool has none.
	InputSchema json.RawMessage
	// Oddity says what is wrong with the definition, "" when nothing is.
	Oddity string
	// Invalid says that the tool cannot be called at all; Oddity says why.
	Invalid bool
}

// Resource is one resource of a server, or a template for many.
type Resource struct {
	// URI is the resource's; a template's has variables (RFC 6570).
	URI      string
	Template bool
	// Vars are the variables of a template, in its order.
	Vars                           []Var
	Name, Title, Description, MIME string
	// Size is in bytes, -1 when the server does not say.
	Size int64
	// Oddity says why it cannot be read, "" when it can.
	Oddity string
}

// Var is one variable of a template.
type Var struct {
	Name string
	// Optional says that it stands in a query, where it may be left out.
	Optional bool
}

// Prompt is one prompt of a server.
type Prompt struct {
	Name, Title, Description string
	Arguments                []Argument
	// Oddity says what is wrong with the definition, "" when nothing is. Without a
	// name it cannot be used.
	Oddity string
}

// Argument is one argument of a prompt: a text.
type Argument struct {
	Name, Title, Description string
	Required                 bool
}

// Follow is one resource whose changes the server is asked to tell.
type Follow struct {
	URI string
	// Updated is when it last changed, or may have, since it was last read; zero
	// when it has not.
	Updated time.Time
	// Problem says in one sentence why it is not followed, "" when it is.
	Problem string
}

// Completing asks what an argument could be.
type Completing struct {
	// Prompt is a prompt's name, Template a resource template's URI: one of them
	// is set.
	Prompt, Template string
	// Argument is what is being written, Value what is written so far.
	Argument, Value string
	// Others are the other arguments that are written already.
	Others map[string]string
}

// Progress is one progress notification of a running call.
type Progress struct {
	// Done is the highest progress so far; Total is 0 when unknown.
	Done, Total float64
	Message     string
}

// Outcome is what a call, a read or a prompt came to.
type Outcome struct {
	// IsError is a tool's own verdict.
	IsError bool
	Content []Content
	// Structured is structuredContent as it came, nil when absent.
	Structured json.RawMessage
	// Raw is the whole result as it came.
	Raw      json.RawMessage
	Duration time.Duration
}

// Content is one content block of a result, decoded for showing.
type Content struct {
	// Type is text, image, audio, resource_link, resource or the server's word.
	Type string
	// Role says who speaks in a prompt's message: user, assistant or the server's
	// word; "" elsewhere.
	Role string
	// Text is set for text and text resources.
	Text string
	MIME string
	// Data is the decoded binary of images, audio and blobs.
	Data []byte
	// URI and Name are set for links and embedded resources.
	URI, Name string
	// Problem says why the block cannot be shown, such as "invalid base64".
	Problem string
	// Raw is the block as it came.
	Raw json.RawMessage
}

// Question is an elicitation that waits for a person.
type Question struct {
	ID string
	// Server and Origin say who asks: the configured name, and the command or
	// host it really is.
	Server, Origin string
	// Call names the tool call it belongs to; "" when the server did not say.
	Call string
	// CallUncertain says that it belongs to one of several calls (G4).
	CallUncertain bool
	URLMode       bool
	Message       string
	// Schema is the requested schema of a form.
	Schema json.RawMessage
	URL    string
	Asked  time.Time
	// Opened says that the person has opened the URL (Answer with Opened).
	Opened bool
}

// Answer is a person's answer to a Question.
type Answer struct {
	// Action is accept, decline or cancel; Opened only notes that the person has
	// opened the URL, after which the server's word that all is done counts as
	// accept.
	Action string
	// Content is the form's JSON object, for an accepted form.
	Content json.RawMessage
}

// Opened is the Answer.Action that answers nothing yet.
const Opened = "opened"

// FileState is the state of the spec file.
type FileState struct {
	Path string
	// Problem says why the file as it stands is not in force, with line and
	// column; the last good one runs on (P2). "" when it is in force.
	Problem string
	// Notes are remarks such as "watching by polling".
	Notes []string
}

// Keyring is the state of the secret store.
type Keyring struct {
	// Problem says in one sentence why secrets cannot be had; "" when they can,
	// or nobody asked yet.
	Problem string
	// Hint is the suggested next step.
	Hint string
	// Waiting says that the keyring waits for the person, who sees its own
	// window.
	Waiting bool
}

// LogLine is one line of a server's log.
type LogLine struct {
	Seq  uint64
	At   time.Time
	From string // stderr, stdout, transport, server, drawbridge
	// Level is debug, info, warning or error.
	Level string
	Text  string
}
