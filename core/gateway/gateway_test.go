package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/approval"
	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

var eras = []era.Era{era.Modern, era.Legacy}

// directions runs f for every pair of eras.
func directions(t *testing.T, f func(t *testing.T, of, over era.Era)) {
	for _, of := range eras {
		for _, over := range eras {
			t.Run(fmt.Sprintf("%v client over %v server", of, over), func(t *testing.T) { f(t, of, over) })
		}
	}
}

func call(ctx context.Context, s *client.Session, tool, args string, more ...func(*client.Call)) (string, error) {
	c := client.Call{
		Method: mcp.MethodToolsCall, Target: tool, Capabilities: json.RawMessage(full),
		Fields: json.RawMessage(`{"name":"` + tool + `","arguments":` + args + `}`),
	}
	for _, f := range more {
		f(&c)
	}
	raw, err := s.Do(ctx, c)
	return string(raw), err
}

func wantEra(t *testing.T, s *client.Session, e era.Era) {
	t.Helper()
	if got := s.Status().Version; got.Modern() != (e == era.Modern) {
		t.Fatalf("the session speaks %s", got)
	}
}

// G3, G4: in all directions a call's result, its progress and its log messages pass
// through, and the endpoints show the names they promise (G1).
func TestCallsPassInAllDirections(t *testing.T) {
	directions(t, func(t *testing.T, of, over era.Era) {
		st := newStage(t, over, Access{})
		wantEra(t, st.upstream, over)
		for _, path := range []string{Path, Path + "/demo"} {
			s := st.client(t, of, path)
			wantEra(t, s, of)
			prefix := ""
			if path == Path {
				prefix = "demo__"
			}
			direct, err := call(t.Context(), st.upstream, "test_multiple_content_types", `{}`)
			if err != nil {
				t.Fatal(err)
			}
			got, err := call(t.Context(), s, exposedAt(path, "test_multiple_content_types"), `{}`)
			if err != nil || string(jsonrpc.Get([]byte(got), "content")) != string(jsonrpc.Get([]byte(direct), "content")) {
				t.Errorf("got %s, %v, want %s", got, err, direct)
			}
			if n, want := len(s.Tools()), len(st.upstream.Tools()); n != want {
				t.Errorf("%d tools, want %d", n, want)
			}
			if !slices.ContainsFunc(s.Tools(), func(t client.ToolEntry) bool { return t.Name == prefix+"echo" }) {
				t.Errorf("no tool %secho", prefix)
			}
			var mu sync.Mutex
			var progress, logs int
			_, err = call(t.Context(), s, exposedAt(path, "test_tool_with_progress"), `{}`, func(c *client.Call) {
				c.Progress = func(json.RawMessage) { mu.Lock(); progress++; mu.Unlock() }
			})
			if err != nil {
				t.Error(err)
			}
			_, err = call(t.Context(), s, exposedAt(path, "test_logging_tool"), `{}`, func(c *client.Call) {
				c.Meta = json.RawMessage(`{"` + mcp.MetaLogLevel + `":"debug"}`)
				c.Message = func(json.RawMessage) { mu.Lock(); logs++; mu.Unlock() }
			})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			if progress < 2 || logs < 2 {
				t.Errorf("%d progress notifications, %d log messages", progress, logs)
			}
			mu.Unlock()
		}
	})
}

// exposedAt is a demo tool's name at an endpoint.
func exposedAt(path, tool string) string {
	if path == Path {
		return ExposedName("demo", tool)
	}
	return tool
}

// G4: what a server asks during a call reaches the person here, or the client that
// answers for its person, in all directions; sampling is always the client's.
func TestQuestionsInAllDirections(t *testing.T) {
	directions(t, func(t *testing.T, of, over era.Era) {
		for _, inClient := range []bool{false, true} {
			st := newStage(t, over, Access{AskInClient: inClient})
			s := st.client(t, of, Path+"/demo")
			var mu sync.Mutex
			var methods []string
			answering := func(c *client.Call) {
				c.Input = func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
					mu.Lock()
					defer mu.Unlock()
					methods = append(methods, method)
					switch method {
					case mcp.MethodElicit:
						return json.RawMessage(`{"action":"accept","content":{"username":"the client","email":"c@example.com","name":"the client"}}`), nil
					case mcp.MethodSample:
						return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"sampled by the client"},"model":"m","stopReason":"endTurn"}`), nil
					}
					return json.RawMessage(`{"roots":[{"uri":"file:///the-client"}]}`), nil
				}
			}
			got, err := call(t.Context(), s, "test_elicitation", `{"message":"who?"}`, answering)
			who, asked := "the person", 1
			if inClient {
				who, asked = "the client", 0
			}
			if err != nil || !strings.Contains(got, who) {
				t.Errorf("in the client %v: got %s, %v", inClient, got, err)
			}
			st.mu.Lock()
			if st.asked != asked {
				t.Errorf("in the client %v: the person was asked %d times", inClient, st.asked)
			}
			st.mu.Unlock()
			if got, err := call(t.Context(), s, "test_sampling", `{"prompt":"say"}`, answering); err != nil || !strings.Contains(got, "sampled by the client") {
				t.Errorf("got %s, %v", got, err)
			}
			if got, err := call(t.Context(), s, "show_roots", `{}`, answering); err != nil || !strings.Contains(got, "file:///the-client") {
				t.Errorf("got %s, %v", got, err)
			}
		}
	})
}

// G3: resources, prompts and completion reach the server under its own names.
func TestReadsInAllDirections(t *testing.T) {
	directions(t, func(t *testing.T, of, over era.Era) {
		st := newStage(t, over, Access{})
		s := st.client(t, of, Path)
		for _, raw := range st.upstream.Items(client.Resources) {
			uri := text(raw, "uri")
			fields, _ := json.Marshal(map[string]string{"uri": uri})
			if _, err := s.Do(t.Context(), client.Call{Method: mcp.MethodResourcesRead, Fields: fields, Target: uri}); err != nil {
				t.Errorf("%s: %v", uri, err)
			}
		}
		_, err := s.Do(t.Context(), client.Call{Method: mcp.MethodResourcesRead, Fields: json.RawMessage(`{"uri":"nowhere://x"}`), Target: "nowhere://x"})
		want := int64(jsonrpc.CodeInvalidParams)
		if of == era.Legacy {
			want = mcp.CodeResourceNotFound
		}
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != want {
			t.Errorf("an unknown resource: got %v, want %d", err, want)
		}
		got, err := s.Do(t.Context(), client.Call{
			Method: mcp.MethodPromptsGet, Target: "demo__test_simple_prompt", Fields: json.RawMessage(`{"name":"` + ExposedName("demo", "test_simple_prompt") + `"}`),
		})
		if err != nil || jsonrpc.Get(got, "messages") == nil {
			t.Errorf("got %s, %v", got, err)
		}
		got, err = s.Do(t.Context(), client.Call{
			Method: mcp.MethodComplete,
			Fields: json.RawMessage(`{"ref":{"type":"ref/prompt","name":"` + ExposedName("demo", "test_prompt_with_arguments") + `"},"argument":{"name":"arg1","value":"t"}}`),
		})
		if err != nil || jsonrpc.Get(got, "completion") == nil {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

// G4: a client that watches a resource hears of its changes, in all directions.
func TestUpdatesInAllDirections(t *testing.T) {
	directions(t, func(t *testing.T, of, over era.Era) {
		st := newStage(t, over, Access{})
		s := st.client(t, of, Path)
		changed := make(chan error, 16)
		stop := s.Follow("demo://counter", func(err error) { changed <- err })
		defer stop()
		for heard := false; !heard; { // until both subscriptions stand, a change may pass unheard
			if _, err := call(t.Context(), s, ExposedName("demo", "count_up"), `{}`); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-changed:
				if err != nil {
					t.Fatal(err)
				}
				heard = true
			case <-time.After(time.Second):
			}
		}
	})
}

// S7, G3: the client's cancellation ends the call at its server.
func TestCancellationPasses(t *testing.T) {
	directions(t, func(t *testing.T, of, over era.Era) {
		st := newStage(t, over, Access{})
		s := st.client(t, of, Path+"/demo")
		before := len(st.upstream.Status().Calls)
		ctx, cancel := context.WithCancel(t.Context())
		began := make(chan struct{})
		var once sync.Once
		got, err := call(ctx, s, "slow_task", `{"seconds":30}`, func(c *client.Call) {
			c.Progress = func(json.RawMessage) { once.Do(func() { close(began); cancel() }) }
		})
		if err == nil {
			t.Fatalf("a cancelled call had a result: %s", got)
		}
		<-began
		for len(st.upstream.Status().Calls) == before { // the session notes the end of every exchange
			if t.Context().Err() != nil {
				t.Fatal("the server still works on it")
			}
			runtime.Gosched()
		}
	})
}

// G5: without a client's token nobody is served, and a client sees only its servers
// and tools.
func TestClientsSeeTheirOwn(t *testing.T) {
	st := newStage(t, era.Modern, Access{Tools: map[string][]string{"demo": {"echo"}}})
	for _, header := range []string{"", "Bearer dbr_wrong", "Basic " + st.token} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, st.url+Path, strings.NewReader(`{}`))
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: got %s", header, resp.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	s := st.client(t, era.Modern, Path)
	if list := s.Tools(); len(list) != 1 || list[0].Name != "demo__echo" {
		t.Errorf("got %v", list)
	}
	if _, err := call(t.Context(), s, "demo__add", `{"a":1,"b":2}`); err == nil {
		t.Error("a tool that is not shown can be called")
	}
	if err := st.clients.SetAccess("editor", Access{Servers: []string{}}); err != nil {
		t.Fatal(err)
	}
	if _, ok := st.gateway.Endpoint("editor", Path+"/demo"); ok {
		t.Error("a server that is not the client's is served")
	}
}

// A1, S6: a call that nobody has decided about waits for the person; a denial is worded
// for a model; a grant lets later ones through.
func TestCallsAreApproved(t *testing.T) {
	directions(t, func(t *testing.T, of, over era.Era) {
		book := approval.NewBook()
		waiting := make(chan struct{}, 16)
		desk := approval.NewDesk(book, func() { waiting <- struct{}{} })
		t.Cleanup(desk.Close)
		st := newStage(t, over, Access{}, func(c *Config) { c.Book, c.Desk = book, desk })
		s := st.client(t, of, Path)
		next := func() approval.Waiting {
			for {
				if list := desk.List(); len(list) > 0 {
					return list[0]
				}
				<-waiting
			}
		}
		type answer struct {
			text string
			err  error
		}
		begin := func(args string) chan answer {
			out := make(chan answer, 1)
			go func() {
				text, err := call(context.WithoutCancel(t.Context()), s, "demo__echo", args)
				out <- answer{text, err}
			}()
			return out
		}
		denied := begin(`{"text":"one"}`)
		w := next()
		if w.Call.Client != "editor" || w.Call.Server != "demo" || w.Call.Tool != "echo" || string(w.Call.Arguments) != `{"text":"one"}` {
			t.Errorf("asked about %+v", w.Call)
		}
		if err := desk.Deny(w.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if a := <-denied; a.err != nil || !strings.Contains(a.text, "authorization_required") || !strings.Contains(a.text, "do not repeat it") {
			t.Errorf("got %+v", a)
		}
		allowed := begin(`{"text":"two"}`)
		if err := desk.Allow(next().ID, approval.Always, "test"); err != nil {
			t.Fatal(err)
		}
		if a := <-allowed; a.err != nil || !strings.Contains(a.text, "two") {
			t.Errorf("got %+v", a)
		}
		if a := <-begin(`{"text":"three"}`); a.err != nil || !strings.Contains(a.text, "three") {
			t.Errorf("got %+v", a)
		}
	})
}

// A2, G5: what was granted to a name is not the next client's of that name.
func TestANewClientHasNoGrants(t *testing.T) {
	clients, err := OpenClients("")
	if err != nil {
		t.Fatal(err)
	}
	book := approval.NewBook()
	clients.OnReset(book.Forget)
	if _, err := clients.Add("editor", Access{}); err != nil {
		t.Fatal(err)
	}
	c := &approval.Call{Client: "editor", Server: "demo", Tool: "echo", Definition: approval.Definition{Pin: "p"}}
	book.Allow(c, approval.Always)
	if v := book.Preview(c); v.Effect != approval.Allow {
		t.Fatalf("got %+v", v)
	}
	if err := clients.Revoke("editor"); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.Add("editor", Access{}); err != nil {
		t.Fatal(err)
	}
	if v := book.Preview(c); v.Effect != approval.Ask {
		t.Errorf("got %+v", v)
	}
}

// A held call waits for its client for a while, and is taken once.
func TestHeldCallsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := held{byID: map[string]heldCall{}}
		b := &bridge{}
		b.ctx, b.cancel = context.WithCancelCause(context.Background())
		id, _ := h.put(b)
		if h.take(id) != b || h.take(id) != nil {
			t.Error("not taken once")
		}
		id, _ = h.put(b)
		time.Sleep(holdFor)
		synctest.Wait()
		if h.take(id) != nil || context.Cause(b.ctx) != errHeldTooLong {
			t.Errorf("still held: %v", context.Cause(b.ctx))
		}
	})
}
