package transport_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

const plenty = 1 << 20

// T11; acceptance 56–71, field cases 24 and 26.
func TestEvents(t *testing.T) {
	ev := func(data ...string) (out []transport.TestEvent) {
		for _, d := range data {
			out = append(out, transport.TestEvent{Data: d})
		}
		return out
	}
	for name, c := range map[string]struct {
		stream string
		want   []transport.TestEvent
		id     string
	}{
		"LF":                              {"data: a\n\ndata: b\n\n", ev("a", "b"), ""},
		"CRLF":                            {"data: a\r\n\r\ndata: b\r\n\r\n", ev("a", "b"), ""},
		"CR":                              {"data: a\r\rdata: b\r\r", ev("a", "b"), ""},
		"mixed line ends":                 {"data: a\r\n\ndata: b\n\rdata: c\r\r\n", ev("a", "b", "c"), ""},
		"no space":                        {"data:a\n\n", ev("a"), ""},
		"one space only is stripped":      {"data:  a \n\n", ev(" a "), ""},
		"two data lines":                  {"data: a\ndata: b\n\n", ev("a\nb"), ""},
		"an empty data line inside":       {"data: a\ndata:\ndata: b\n\n", ev("a\n\nb"), ""},
		"an empty first data line":        {"data:\ndata: b\n\n", ev("\nb"), ""},
		"event and id":                    {"event: message\nid: 7\ndata: a\n\n", []transport.TestEvent{{Kind: "message", Data: "a"}}, "7"},
		"the kind ends with its event":    {"event: ping\ndata: a\n\ndata: b\n\n", []transport.TestEvent{{Kind: "ping", Data: "a"}, {Data: "b"}}, ""},
		"comments":                        {": hi\n\n:\n: data: x\ndata: a\n: b\n\n", ev("a"), ""},
		"comments alone":                  {": keep-alive\n\n: keep-alive\r\n\r\n", nil, ""},
		"event without data":              {"event: ping\n\n", nil, ""},
		"priming event with empty data":   {"id: s:0\nretry: 1000\ndata: \n\n", nil, "s:0"},
		"byte order mark":                 {"\uFEFFdata: a\n\n", ev("a"), ""},
		"byte order mark, once":           {"\uFEFF\uFEFFdata: a\n\ndata: b\n\n", ev("b"), ""},
		"an unknown field":                {"foo: bar\ndata: a\nfoo\n\n", ev("a"), ""},
		"a field without colon":           {"data\ndata: a\n\n", ev("\na"), ""},
		"a field name is exact":           {"Data: a\n data: b\n\n", nil, ""},
		"an id with NUL":                  {"id: a\n\nid: b\x00c\ndata: x\n\n", ev("x"), "a"},
		"an empty id":                     {"id: a\n\nid\ndata: x\n\n", ev("x"), ""},
		"an id stays":                     {"id: a\n\ndata: x\n\n", ev("x"), "a"},
		"an unterminated last event":      {"data: a\n\ndata: b\n", ev("a", "b"), ""},
		"an unterminated last line":       {"data: a\n\ndata: b", ev("a", "b"), ""},
		"an unterminated event has no id": {"id: 1\ndata: a\n\nid: 2\ndata: b", ev("a", "b"), "1"},
		"a byte order mark alone":         {"\uFEFFdata: a", ev("a"), ""},
		"nothing":                         {"", nil, ""},
		"blank lines":                     {"\n\r\n\r", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for chunking, r := range map[string]io.Reader{
				"whole":       strings.NewReader(c.stream),
				"bytes":       iotest.OneByteReader(strings.NewReader(c.stream)),
				"data+EOF":    iotest.DataErrReader(strings.NewReader(c.stream)),
				"one, at end": iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(c.stream))),
			} {
				got, id, err := transport.ReadEventsForTest(r, plenty)
				if !slices.Equal(got, c.want) || id != c.id || !errors.Is(err, io.EOF) {
					t.Errorf("%s: got %q, id %q, %v; want %q, id %q", chunking, got, id, err, c.want, c.id)
				}
			}
		})
	}
}

// An event arrives when its blank line does, not with what comes after it.
func TestEventsAreNotHeldBack(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		r, w := io.Pipe()
		got := make(chan string)
		go func() {
			events, _, _ := transport.ReadEventsForTest(&stopAfter{r, 1}, plenty)
			if len(events) == 1 {
				got <- events[0].Data
			} else {
				got <- "nothing"
			}
		}()
		if _, err := io.WriteString(w, "data: now"+end); err != nil {
			t.Fatal(err)
		}
		if s := <-got; s != "now" {
			t.Errorf("%q: %s", end, s)
		}
	}
}

// stopAfter fails after n reads.
type stopAfter struct {
	io.Reader
	n int
}

func (s *stopAfter) Read(p []byte) (int, error) {
	if s.n--; s.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return s.Reader.Read(p)
}

// A stream that breaks ends with its error, and what was cut is not delivered.
func TestBrokenStreamDeliversNothingCut(t *testing.T) {
	r := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, _, err := transport.ReadEventsForTest(r, plenty)
	if len(got) != 1 || got[0].Data != "a" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %q, %v", got, err)
	}
}

// T8, acceptance 80–82: the limit is in bytes of data, and what carries none is free.
func TestEventLimit(t *testing.T) {
	const limit = 100
	x := strings.Repeat("x", limit)
	for name, c := range map[string]struct {
		stream string
		fits   bool
	}{
		"exactly":             {"data: " + x + "\n\n", true},
		"one more":            {"data: " + x + "x\n\n", false},
		"by several lines":    {"data: " + x[:50] + "\ndata: " + x[:49] + "\n\n", true},
		"by too many":         {"data: " + x[:50] + "\ndata: " + x[:50] + "\n\n", false},
		"without end":         {"data: " + strings.Repeat(x, 1000), false},
		"a field without end": {strings.Repeat(x, 1000), false},
		"a long comment":      {": " + strings.Repeat(x, 10_000) + "\ndata: " + x + "\n\n", true},
		"many small events":   {strings.Repeat("data: "+x+"\n\n", 100), true},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := transport.ReadEventsForTest(strings.NewReader(c.stream), limit)
			if fits := errors.Is(err, io.EOF); fits != c.fits {
				t.Errorf("%d events, %v", len(got), err)
			}
			var te *transport.Error
			if !c.fits && (!errors.As(err, &te) || te.Code != transport.TooLarge || te.Limit != limit) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Acceptance 56–58: any chunking gives the same events.
func TestChunkingChangesNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"data: a", "data:b", "data", "id: 1", "id:", "event: e", ": c", ":", "retry: 5", "\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", "\uFEFF", "x", "é", "\x00",
		})
		stream := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(r, "stream"), "")
		want, wantID, _ := transport.ReadEventsForTest(strings.NewReader(stream), plenty)
		sizes := rapid.SliceOfN(rapid.IntRange(1, 7), 1, 20).Draw(r, "sizes")
		got, id, err := transport.ReadEventsForTest(&chunked{[]byte(stream), sizes, 0}, plenty)
		if !slices.Equal(got, want) || id != wantID || !errors.Is(err, io.EOF) {
			r.Fatalf("%q: got %q, %q, %v; want %q, %q", stream, got, id, err, want, wantID)
		}
	})
}

// chunked gives a stream in chunks of the given sizes, over and over.
type chunked struct {
	rest  []byte
	sizes []int
	turn  int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := min(c.sizes[c.turn%len(c.sizes)], len(c.rest), len(p))
	c.turn++
	copy(p, c.rest[:n])
	c.rest = c.rest[n:]
	return n, nil
}

// Any messages in any dialect come out as they went in (acceptance 56).
func TestDialectsCarryTheSame(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r", "\r\n"})
		line := rapid.StringMatching(`[a-z :{}"é]{0,12}`)
		var b bytes.Buffer
		var want []string
		for range rapid.IntRange(0, 8).Draw(r, "events") {
			lines := rapid.SliceOfN(line, 1, 4).Draw(r, "lines")
			for _, l := range lines {
				if rapid.Bool().Draw(r, "comment") {
					b.WriteString(": note" + eol.Draw(r, "eol"))
				}
				// A line that begins with a space needs the one that is stripped.
				space := " "
				if !strings.HasPrefix(l, " ") && rapid.Bool().Draw(r, "tight") {
					space = ""
				}
				b.WriteString("data:" + space + l + eol.Draw(r, "eol"))
			}
			// CR before LF would be one line end.
			b.WriteString(": end\n" + "\n")
			if data := strings.Join(lines, "\n"); data != "" {
				want = append(want, data)
			}
		}
		got, _, _ := transport.ReadEventsForTest(&b, plenty)
		var data []string
		for _, e := range got {
			data = append(data, e.Data)
		}
		if !slices.Equal(data, want) {
			r.Fatalf("got %q, want %q", data, want)
		}
	})
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "data: a\r\n\r\n", "data: a\r\rdata: b", "\uFEFF: c\nid: 1\nretry: 10\ndata\n\n", "event: x\ndata: {\"jsonrpc\":\"2.0\"}\n\n",
		"id: \x00\n\n", "data: \n\n", ":\n\n\n", "retry: 99999999999999999999\n\n", "data:" + strings.Repeat("x", 300) + "\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 256
		whole, id, err := transport.ReadEventsForTest(bytes.NewReader(b), limit)
		for _, e := range whole {
			if len(e.Data) == 0 || len(e.Data) > limit {
				t.Fatalf("an event of %d bytes", len(e.Data))
			}
			if strings.Contains(e.Data, "\r") || strings.ContainsAny(e.Kind, "\r\n") {
				t.Fatalf("a line end inside %q", e)
			}
		}
		if strings.ContainsAny(id, "\r\n\x00") {
			t.Fatalf("id %q", id)
		}
		single, id1, err1 := transport.ReadEventsForTest(iotest.OneByteReader(bytes.NewReader(b)), limit)
		if !slices.Equal(whole, single) || id != id1 || transport.CodeOf(err) != transport.CodeOf(err1) {
			t.Fatalf("%q: %q, %q at once; %q, %q, %v by bytes", b, whole, id, single, id1, err1)
		}
	})
}
