package hub

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/demo"
	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
)

// startDemo runs the demo server and returns its URL.
func startDemo(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- demo.Command(ctx, []string{"--http", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, w)
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		r.Close()
		<-ended
	})
	line := make([]byte, 200)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n]))
}

// withResources is a legacy server that answers these lists and reads.
func withResources(caps, list, templates, read string) fakeserver.Script {
	return fakeserver.Script{
		Capabilities: json.RawMessage(caps),
		Replies: map[string]fakeserver.Reply{
			"resources/list":           {Result: json.RawMessage(list)},
			"resources/templates/list": {Result: json.RawMessage(templates)},
			"resources/read":           {Result: json.RawMessage(read)},
		},
	}
}

// C5: resources and templates are listed in the server's order; odd ones are kept
// and marked at no cost to their neighbours.
func TestResourcesAndTemplatesAreListed(t *testing.T) {
	r := newRig(t, map[string]entry{"a": fake(t, withResources(`{"resources":{}}`,
		`{"resources":[{"uri":"a:1","name":"one","title":"One","description":"d","mimeType":"text/plain","size":12},{"name":"no uri"},7,{"uri":"a:2","size":"x"}]}`,
		`{"resourceTemplates":[{"uriTemplate":"a:{id}/b{?q,id}","name":"t"},{"uriTemplate":"a:{open","name":"u"},{}]}`, `{}`))})
	v := r.until("the templates", func(*Snapshot) bool { return len(r.Resources("a")) == 7 }).find("a")
	if v.Resources != 4 || v.ResourcesRev == 0 || v.Subscribes || v.Completes {
		t.Errorf("view %+v", v)
	}
	got := r.Resources("a")
	if one := got[0]; one.URI != "a:1" || one.Title != "One" || one.Description != "d" || one.MIME != "text/plain" || one.Size != 12 || one.Oddity != "" {
		t.Errorf("one: %+v", one)
	}
	if got[1].Oddity == "" || got[2].Oddity == "" || got[3].URI != "a:2" || got[3].Oddity != "" || got[3].Size != -1 && got[3].Size != 0 {
		t.Errorf("odd ones: %+v", got[1:4])
	}
	if tp := got[4]; !tp.Template || !slices.Equal(tp.Vars, []Var{{Name: "id"}, {Name: "q", Optional: true}}) || tp.Oddity != "" {
		t.Errorf("template: %+v", tp)
	}
	if got[5].Oddity == "" || got[6].Oddity == "" {
		t.Errorf("odd templates: %+v", got[5:])
	}
	if r.Resources("nobody") != nil {
		t.Error("resources of nobody")
	}
}

// Field case 57: every part of what was read is shown or says what it was.
func TestReadsOfEveryKind(t *testing.T) {
	for raw, want := range map[string]struct {
		parts int
		check func(Content) bool
	}{
		`{"contents":[]}`:                                  {0, nil},
		`{"contents":[{"uri":"a:1","text":""}]}`:           {1, func(c Content) bool { return c.Problem == "" && c.Data == nil && c.URI == "a:1" }},
		`{"contents":[{"uri":"a:1","text":"t"}]}`:          {1, func(c Content) bool { return c.Text == "t" }},
		`{"contents":[{"blob":"aGk=","mimeType":"x/y"}]}`:  {1, func(c Content) bool { return string(c.Data) == "hi" && c.MIME == "x/y" }},
		`{"contents":[{"uri":"a:1","blob":"!"}]}`:          {1, func(c Content) bool { return c.Problem != "" }},
		`{"contents":[{"uri":"a:1"}]}`:                     {1, func(c Content) bool { return c.Problem != "" }},
		`{"contents":[7]}`:                                 {1, func(c Content) bool { return c.Problem != "" }},
		`{"contents":{"text":"t"}}`:                        {1, func(c Content) bool { return c.Problem != "" }},
		`{"x":1}`:                                          {1, func(c Content) bool { return c.Problem != "" }},
		`{"contents":[{"text":"1"},{"text":"2"},{"y":2}]}`: {3, func(c Content) bool { return c.Text == "1" }},
	} {
		o := readOf(json.RawMessage(raw))
		if len(o.Content) != want.parts || want.check != nil && !want.check(o.Content[0]) || string(o.Raw) != raw {
			t.Errorf("%s: got %+v", raw, o)
		}
	}
}

// RFC 6570: what is left out of a query is left out of the URI.
func TestExpand(t *testing.T) {
	for _, c := range []struct {
		template string
		values   map[string]string
		want     string
	}{
		{"demo://notes/{name}", map[string]string{"name": "a b/c"}, "demo://notes/a%20b%2Fc"},
		{"file:///{+path}", map[string]string{"path": "a/b c"}, "file:///a/b%20c"},
		{"x:{id}{?q,r}", map[string]string{"id": "1", "q": "", "r": "é"}, "x:1?r=%C3%A9"},
		{"x:{id}", nil, "x:"},
		{"x:plain", map[string]string{"other": "1"}, "x:plain"},
	} {
		if got, err := Expand(c.template, c.values); got != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.template, got, err)
		}
	}
	if _, err := Expand("x:{open", nil); err == nil {
		t.Error("an open brace")
	}
	for template, optional := range map[string]bool{"x:{a}": false, "x:{+a*}": false, "x:{/b,a:3}": false, "x:{?a}": true, "x{&b,a}": true, "x:{?a}{#a}": false, "x:{.aa}{?a}": true} {
		vars, err := templateVars(template)
		i := slices.IndexFunc(vars, func(v Var) bool { return v.Name == "a" })
		if err != nil || i < 0 || vars[i].Optional != optional {
			t.Errorf("%s: %+v, %v", template, vars, err)
		}
	}
}

// G3: a person reads, completes and follows resources of the real demo server; a
// change shows as a mark, which reading takes away.
func TestResourcesEndToEnd(t *testing.T) {
	r := newRig(t, map[string]entry{"demo": {"url": startDemo(t)}})
	r.until("ready", func(*Snapshot) bool { return len(r.Resources("demo")) > 7 })
	if v := r.server("demo", Ready); !v.Subscribes || !v.Completes {
		t.Errorf("view %+v", v)
	}
	ctx := context.Background()
	const counter = "demo://counter"
	out, err := r.Read(ctx, "demo", counter, nil)
	if err != nil || len(out.Content) != 1 || out.Content[0].Text != "0" || out.Duration == 0 {
		t.Fatalf("got %+v, %v", out, err)
	}
	offers, err := r.Complete(ctx, "demo", Completing{Template: "test://template/{id}/data", Argument: "id", Value: "12"})
	if err != nil || !slices.Equal(offers, []string{"12", "123"}) {
		t.Errorf("completes %v, %v", offers, err)
	}
	if err := r.Follow("demo", counter, true); err != nil {
		t.Fatal(err)
	}
	// The subscription is set up in the background: count until it is heard.
	updated := func(s *Snapshot) bool {
		fs := r.Follows("demo")
		return len(fs) == 1 && fs[0].URI == counter && fs[0].Problem == "" && !fs[0].Updated.IsZero()
	}
	stop := make(chan struct{})
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = r.Call(ctx, "demo", "count_up", json.RawMessage(`{}`), nil)
			}
		}
	}()
	before := r.Snapshot().find("demo").FollowsRev
	s := r.until("the mark", updated)
	close(stop)
	<-counted
	if s.find("demo").FollowsRev == before {
		t.Error("the revision did not move")
	}
	r.until("the mark goes when it is read", func(s *Snapshot) bool {
		_, err := r.Read(ctx, "demo", counter, nil)
		return err == nil && !updated(s)
	})
	if err := r.Follow("demo", counter, false); err != nil || len(r.Follows("demo")) != 0 {
		t.Errorf("%v, still followed: %+v", err, r.Follows("demo"))
	}
	if err := r.Follow("nobody", counter, true); err != ErrNoServer {
		t.Errorf("got %v", err)
	}
}

// What is followed outlives the session; what a server does not announce is said.
func TestFollowsOutliveTheSession(t *testing.T) {
	script := func(caps, note string) entry {
		s := withResources(caps, `{"resources":[{"uri":"a:1"}]}`, `{"resourceTemplates":[]}`, `{"contents":[]}`)
		s.Replies["resources/subscribe"] = fakeserver.Reply{Result: json.RawMessage(`{}`)}
		e := fake(t, s)
		e["env"] = map[string]string{"NOTE": note}
		return e
	}
	const silent, tells = `{"resources":{}}`, `{"resources":{"subscribe":true}}`
	r := newRig(t, map[string]entry{"a": script(silent, "1")})
	listed := func(*Snapshot) bool { return len(r.Resources("a")) == 1 }
	r.until("ready", listed)
	_ = r.Follow("a", "a:1", true)
	r.until("the refusal", func(*Snapshot) bool {
		fs := r.Follows("a")
		return len(fs) == 1 && strings.Contains(fs[0].Problem, "does not announce") && fs[0].Updated.IsZero()
	})
	// Another program: changes may have passed unheard while it started.
	r.write(map[string]entry{"a": script(tells, "2")})
	r.until("the follower is told", func(*Snapshot) bool {
		fs := r.Follows("a")
		return len(fs) == 1 && fs[0].Problem == "" && !fs[0].Updated.IsZero()
	})
	if _, err := r.Read(context.Background(), "a", "a:1", nil); err != nil || !r.Follows("a")[0].Updated.IsZero() {
		t.Errorf("%v, %+v", err, r.Follows("a"))
	}
	r.write(map[string]entry{"a": script(tells, "3")})
	r.until("the follower is told again", func(*Snapshot) bool { return !r.Follows("a")[0].Updated.IsZero() })
	// A read that fails leaves the mark.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Read(ctx, "a", "a:1", nil); err == nil || r.Follows("a")[0].Updated.IsZero() {
		t.Errorf("%v, %+v", err, r.Follows("a"))
	}
}
