package ui

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

const searchSchema = `{"type":"object","properties":{
	"query":{"type":"string","description":"What to look for"},
	"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},
	"paths":{"type":"array","items":{"type":"string"}},
	"deep":{"type":"boolean"}},"required":["query"]}`

// trying opens the panel of one tool in a window of its own.
func trying(t *testing.T, h *fakeHub, tool hub.Tool) (*stage, *try, fyne.Window) {
	t.Helper()
	s := newStage(t, h)
	w := test.NewTempWindow(t, widget.NewLabel(""))
	p := newTry(s.UI, "demo", tool, w)
	w.SetContent(p.object())
	w.Resize(fyne.NewSize(640, 560))
	t.Cleanup(p.stop)
	return s, p, w
}

func searchTool() hub.Tool {
	return hub.Tool{Name: "search", InputSchema: json.RawMessage(searchSchema)}
}

// finishedWith calls the tool and waits for the outcome to be drawn.
func finishedWith(t *testing.T, out *hub.Outcome, err error) (*stage, *try, fyne.Window) {
	t.Helper()
	h := newFakeHub(nil)
	h.call = func(context.Context, string, string, json.RawMessage, func(hub.Progress)) (*hub.Outcome, error) {
		return out, err
	}
	s, p, w := trying(t, h, hub.Tool{Name: "go", InputSchema: json.RawMessage(`{"type":"object"}`)})
	test.Tap(p.callB)
	s.q.until(t, "the result is drawn", func() bool {
		return p.shown != nil && !slices.ContainsFunc(all[*widget.Label](w.Content()), func(l *widget.Label) bool { return l.Text == "…" })
	})
	return s, p, w
}

func content(t *testing.T, blocks string) *hub.Outcome {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(blocks), &list); err != nil {
		t.Fatal(err)
	}
	out := &hub.Outcome{Raw: json.RawMessage(`{"content":` + blocks + `}`), Duration: 38 * time.Millisecond}
	for _, raw := range list {
		var c hub.Content
		var b struct{ Type, Text, Data, MimeType, URI, Name, Problem string }
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		c.Type, c.Text, c.MIME, c.URI, c.Name, c.Problem, c.Raw = b.Type, b.Text, b.MimeType, b.URI, b.Name, b.Problem, raw
		c.Data, _ = base64.StdEncoding.DecodeString(b.Data)
		if b.Data == "" {
			c.Data = nil
		}
		out.Content = append(out.Content, c)
	}
	return out
}

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.NRGBA{R: uint8(x), G: uint8(y), B: 120, A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTrySendsTheFormAsJSON(t *testing.T) {
	h := newFakeHub(nil)
	s, p, w := trying(t, h, searchTool())
	shot(t, w, "try-form")
	test.Tap(p.callB)
	if len(h.called()) != 0 || !strings.Contains(texts(w), "This is required") {
		t.Fatalf("an incomplete form was sent, or nothing says what is missing:\n%s", texts(w))
	}
	in := all[*input](w.Content())
	test.Type(in[0], "bridges")
	in[1].SetText("9007199254740993")
	test.Tap(p.callB)
	if !strings.Contains(texts(w), "At most 100") {
		t.Errorf("the bound is not said:\n%s", texts(w))
	}
	shot(t, w, "try-problem")
	in[1].SetText("20")
	in[2].SetText(`["a", "b"]`)
	in[0].TypedShortcut(sendShortcuts()[0])
	s.q.until(t, "the call ends", func() bool { return p.shown != nil })
	if got := h.called(); len(got) != 1 || string(got[0]) != `{"query":"bridges","limit":20,"paths":["a", "b"]}` {
		t.Errorf("called with %s", got)
	}
}

func TestSwitchToJSONAndBackKeepsTheValues(t *testing.T) {
	h := newFakeHub(nil)
	s, p, w := trying(t, h, searchTool())
	in := all[*input](w.Content())
	test.Type(in[0], "x")
	in[1].SetText("abc") // half typed
	test.Tap(p.args.mode)
	shot(t, w, "try-json")
	if got := p.args.text.entry.Text; got != "{\n  \"query\": \"x\"\n}" {
		t.Errorf("JSON is %q", got)
	}
	test.Tap(p.args.mode)
	if got := all[*input](w.Content())[1].Text; p.args.asJSON || got != "abc" {
		t.Errorf("what was half typed is %q", got)
	}
	test.Tap(p.args.mode)
	p.args.text.entry.SetText(`{"query":"y","limit":9007199254740993,"deep":false}`)
	test.Tap(p.args.mode)
	if vs := p.args.view.values(); vs[0].Text != "y" || vs[1].Text != "9007199254740993" || !vs[3].Set || vs[3].On {
		t.Errorf("the form has %+v", vs)
	}
	test.Tap(p.args.mode)
	p.args.text.entry.SetText(`{"query":"y","extra":1}`)
	test.Tap(p.args.mode)
	if !p.args.asJSON || !p.args.mode.Checked || !strings.Contains(texts(w), `"extra" is not a field of this form`) {
		t.Errorf("JSON that does not fit was thrown away:\n%s", texts(w))
	}
	test.Tap(p.callB)
	s.q.until(t, "the call ends", func() bool { return p.shown != nil })
	if got := string(h.called()[0]); got != `{"query":"y","extra":1}` {
		t.Errorf("called with %s", got)
	}
}

// Field case 52.
func TestToolWithAnOddSchemaIsCalledWithJSON(t *testing.T) {
	for _, schema := range []string{``, `null`, `{}`, `true`, `{"anyOf":[{"type":"object"}]}`, `{"type":"string"}`} {
		h := newFakeHub(nil)
		s, p, w := trying(t, h, hub.Tool{Name: "odd", InputSchema: json.RawMessage(schema)})
		if !strings.Contains(texts(w), "schema is not understood") {
			t.Errorf("%q: nothing says so:\n%s", schema, texts(w))
		}
		e := all[*input](w.Content())[0]
		e.SetText(`[1]`)
		if !p.callB.Disabled() {
			t.Errorf("%q: an array can be sent", schema)
		}
		e.SetText(`{"a":1}`)
		test.Tap(p.callB)
		s.q.until(t, "the call ends", func() bool { return p.shown != nil })
		if got := string(h.called()[0]); got != `{"a":1}` {
			t.Errorf("called with %s", got)
		}
	}
}

func TestDestructiveToolIsCautionedAndInvalidOneNotCalled(t *testing.T) {
	_, p, w := trying(t, newFakeHub(nil), hub.Tool{Name: "rm", Destructive: true, Invalid: true, InputSchema: json.RawMessage(`{"type":"object"}`)})
	if !strings.Contains(texts(w), "can destroy") {
		t.Error("no caution")
	}
	if !p.callB.Disabled() {
		t.Error("an invalid tool can be called")
	}
	shot(t, w, "try-destructive")
}

// Rule C7, field case 67.
func TestProgressIsShown(t *testing.T) {
	h := newFakeHub(nil)
	step, release := make(chan hub.Progress), make(chan struct{})
	h.call = func(ctx context.Context, _, _ string, _ json.RawMessage, progress func(hub.Progress)) (*hub.Outcome, error) {
		for {
			select {
			case p := <-step:
				progress(p)
			case <-release:
				return &hub.Outcome{}, nil
			}
		}
	}
	s, p, w := trying(t, h, hub.Tool{Name: "slow", InputSchema: json.RawMessage(`{"type":"object"}`)})
	test.Tap(p.callB)
	if !p.callB.Disabled() || p.stopB.Disabled() || !p.busy.endless.Visible() {
		t.Error("a running call must offer Cancel and an endless bar")
	}
	step <- hub.Progress{Done: 5, Message: "counting\u202e"}
	s.q.until(t, "the message", func() bool { return strings.Contains(texts(w), "counting⟨U+202E⟩") })
	if p.busy.bar.Visible() {
		t.Error("a bar without a total")
	}
	step <- hub.Progress{Done: 30, Total: 60}
	s.q.until(t, "the bar", func() bool { return p.busy.bar.Visible() && p.busy.bar.Value == 0.5 })
	shot(t, w, "try-progress")
	close(release)
	s.q.until(t, "the end", func() bool { return p.shown != nil })
	if p.busy.box.Visible() || p.callB.Disabled() {
		t.Error("the progress stays")
	}
}

func TestShareOfNeverDividesByZero(t *testing.T) {
	for _, c := range []struct {
		done, total, want float64
		ok                bool
	}{
		{1, 0, 0, false},
		{0, 0, 0, false},
		{1, -1, 0, false},
		{-1, 2, 0, false},
		{math.NaN(), 1, 0, false},
		{1, math.NaN(), 0, false},
		{math.Inf(1), math.Inf(1), 0, false},
		{3, 2, 1, true},
		{1, 2, 0.5, true},
	} {
		if got, ok := shareOf(hub.Progress{Done: c.done, Total: c.total}); got != c.want || ok != c.ok {
			t.Errorf("%v of %v: %v, %v", c.done, c.total, got, ok)
		}
	}
}

// Field case 67: 10,000 messages in a second are at most about ten paintings.
func TestProgressIsPaintedTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var painted atomic.Int32
		var last atomic.Value
		f := newProgressFeed(func(fn func()) { fn() }, func(p hub.Progress) {
			painted.Add(1)
			last.Store(p.Done)
		})
		for i := range 10_000 {
			f.set(hub.Progress{Done: float64(i)})
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Second)
		f.stop()
		if n := painted.Load(); n < 5 || n > 12 {
			t.Errorf("painted %d times", n)
		}
		if last.Load() != float64(9999) {
			t.Errorf("last is %v", last.Load())
		}
	})
}

// A window that is slow to draw is not buried under progress.
func TestProgressWaitsForTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		f := newProgressFeed(q.Do, func(hub.Progress) {})
		for range 50 {
			f.set(hub.Progress{Done: 1})
			time.Sleep(repaint)
		}
		f.stop()
		if len(q.fns) != 1 {
			t.Errorf("%d drawings wait", len(q.fns))
		}
	})
}

func TestCancelEndsTheCall(t *testing.T) {
	h := newFakeHub(nil)
	h.call = func(ctx context.Context, _, _ string, _ json.RawMessage, _ func(hub.Progress)) (*hub.Outcome, error) {
		<-ctx.Done()
		return nil, &hub.CallError{Sentence: "It was cancelled.", Cancelled: true}
	}
	s, p, w := trying(t, h, hub.Tool{Name: "slow", InputSchema: json.RawMessage(`{"type":"object"}`)})
	test.Tap(p.callB)
	test.Tap(p.stopB)
	s.q.until(t, "the end", func() bool { return p.shown != nil })
	if !strings.Contains(texts(w), "Cancelled") || p.callB.Disabled() {
		t.Errorf("got:\n%s", texts(w))
	}
	// A panel that goes away cancels, and shows nothing any more.
	shown := p.shown
	test.Tap(p.callB)
	p.stop()
	s.UI.Close()
	s.q.drain()
	if p.shown != shown {
		t.Error("a panel that is gone drew a result")
	}
}

func TestFailureSaysWhyInOneSentence(t *testing.T) {
	_, _, w := finishedWith(t, nil, &hub.CallError{Sentence: "The server refused the call with error -32602.", Words: []string{"bad \u202eargument"}})
	shot(t, w, "result-failed")
	for _, want := range []string{"Failed", "error -32602", "own words", "bad ⟨U+202E⟩argument"} {
		if !strings.Contains(texts(w), want) {
			t.Errorf("%q is missing:\n%s", want, texts(w))
		}
	}
	_, _, w = finishedWith(t, nil, errors.New("inner detail"))
	if got := texts(w); strings.Contains(got, "inner detail") || !strings.Contains(got, "The call failed.") {
		t.Errorf("got:\n%s", got)
	}
}

// Field case 57: every kind of block is shown, or a line says what it was.
func TestResultShowsEveryKindOfBlock(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for name, c := range map[string]struct {
		blocks string
		want   []string
	}{
		"text":         {`[{"type":"text","text":"line one\nline \u202etwo"}]`, []string{"Success", "38 ms", "line one", "line ⟨U+202E⟩two", "hidden characters"}},
		"empty":        {`[]`, []string{"The result is empty"}},
		"svg":          {`[{"type":"image","mimeType":"image/svg+xml","data":"` + b64([]byte(svg)) + `"}]`, []string{"Image · image/svg+xml", "<script>alert(1)</script>", "71 bytes"}},
		"bad base64":   {`[{"type":"image","mimeType":"image/png","problem":"The data is not valid base64."}]`, []string{"Image · The data is not valid base64", `"mimeType": "image/png"`}},
		"no picture":   {`[{"type":"image","mimeType":"image/png","data":"` + b64([]byte("nonsense")) + `"}]`, []string{"not a picture"}},
		"audio":        {`[{"type":"audio","mimeType":"audio/wav","data":"` + b64(make([]byte, 2048)) + `"}]`, []string{"Audio · audio/wav · 2.0 KiB"}},
		"link":         {`[{"type":"resource_link","uri":"file:///etc/pass\u200bwd","name":"A file","mimeType":"text/plain"}]`, []string{"Link to a resource", "A file", "file:///etc/pass⟨U+200B⟩wd", "text/plain"}},
		"text file":    {`[{"type":"resource","uri":"demo://a","mimeType":"text/plain","text":"inside"}]`, []string{"Resource · demo://a · text/plain", "inside"}},
		"blob":         {`[{"type":"resource","uri":"demo://b","mimeType":"application/zip","data":"` + b64([]byte("PK")) + `"}]`, []string{"Resource · application/zip · 2 bytes · demo://b"}},
		"unknown":      {`[{"type":"hologram","x":9007199254740993,"problem":"Drawbridge does not know this kind of block."}]`, []string{"Hologram · Drawbridge does not know", `"x": 9007199254740993`}},
		"several":      {`[{"type":"text","text":"first"},{"type":"text","text":"second"}]`, []string{"first", "second"}},
		"foreign type": {`[{"type":"\u202e","problem":"p"}]`, []string{"⟨U+202E⟩"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, w := finishedWith(t, content(t, c.blocks), nil)
			for _, want := range c.want {
				if !strings.Contains(texts(w), want) {
					t.Errorf("%q is missing:\n%s", want, texts(w))
				}
			}
			if n := len(all[*widget.Hyperlink](w.Content())); n != 0 {
				t.Errorf("%d links can be clicked", n)
			}
		})
	}
}

func TestResultMixesKindsAndSavesThem(t *testing.T) {
	out := content(t, `[{"type":"text","text":"Here is a picture."},{"type":"image","mimeType":"image/png","data":"`+
		base64.StdEncoding.EncodeToString(pngOf(t, 300, 120))+`"},{"type":"resource_link","uri":"https://example.com/x","name":"More"}]`)
	out.Structured = json.RawMessage(`{"b":1.0,"a":[1,2]}`)
	s, _, w := finishedWith(t, out, nil)
	w.Resize(fyne.NewSize(640, 900))
	shot(t, w, "result-mixed")
	if n := len(all[*canvas.Image](w.Content())); n == 0 {
		t.Error("no picture")
	}
	if got := texts(w); !strings.Contains(got, `"b": 1.0`) {
		t.Errorf("structured content is missing:\n%s", got)
	}
	for _, b := range all[*widget.Button](w.Content()) {
		switch b.Text {
		case "Save…":
			test.Tap(b)
		case "Copy result":
			test.Tap(b)
		}
	}
	if len(s.saved) != 1 || s.saved[0] != "demo-go-2.png" {
		t.Errorf("saved %v", s.saved)
	}
	if got := s.app.Clipboard().Content(); got != string(out.Raw) {
		t.Errorf("copied %q", got)
	}
}

func TestToolErrorIsMarkedInWords(t *testing.T) {
	out := content(t, `[{"type":"text","text":"no such city"}]`)
	out.IsError = true
	_, _, w := finishedWith(t, out, nil)
	shot(t, w, "result-tool-error")
	if got := texts(w); !strings.Contains(got, "The tool says it failed") || strings.Contains(got, "Success") {
		t.Errorf("got:\n%s", got)
	}
}

func TestImagesAreDecodedWithinBounds(t *testing.T) {
	huge := pngOf(t, 1, 1)
	// The header claims 100,000 by 100,000 pixels.
	copy(huge[16:24], []byte{0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0})
	binary.BigEndian.PutUint32(huge[29:33], crc32.ChecksumIEEE(huge[12:29]))
	for _, c := range []struct {
		name    string
		data    []byte
		problem string
		w, h    int
	}{
		{"small", pngOf(t, 3, 2), "", 3, 2},
		{"large", pngOf(t, 3300, 100), "", 1100, 33},
		{"claims too much", huge, tooManyPixels, 0, 0},
		{"too long", make([]byte, maxImageBytes+1), tooManyBytes, 0, 0},
		{"cut off", pngOf(t, 50, 50)[:60], noPicture, 0, 0},
		{"nothing", nil, noPicture, 0, 0},
	} {
		img, problem := decodeImage(c.data)
		if problem != c.problem {
			t.Errorf("%s: %q, want %q", c.name, problem, c.problem)
		}
		if problem == "" && (img.Bounds().Dx() != c.w || img.Bounds().Dy() != c.h) {
			t.Errorf("%s: %v", c.name, img.Bounds())
		}
	}
}

func TestFileNamesAreNoPaths(t *testing.T) {
	for in, want := range map[string]string{"../../etc/passwd": "------etc-passwd-1.bin", "a b": "a-b-1.bin", strings.Repeat("x", 99): strings.Repeat("x", 60) + "-1.bin"} {
		if got := fileName(in, 0, "x/y"); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	if got := fileName("a", 1, "Image/PNG; x=1"); got != "a-2.png" {
		t.Error(got)
	}
}
