package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// readLines returns all lines, and the ids of those that were too long ("?" when
// none was found).
func readLines(t testing.TB, r io.Reader, limit int64) (lines, long []string) {
	t.Helper()
	l := newLineReader(r, limit, func(id int64, known bool) {
		if known {
			long = append(long, fmt.Sprint(id))
		} else {
			long = append(long, "?")
		}
	})
	for {
		text, err := l.next()
		if len(text) > 0 {
			lines = append(lines, string(text))
		}
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			return lines, long
		}
	}
}

func TestLineReaderLimits(t *testing.T) {
	const limit = 100
	x := strings.Repeat("x", limit)
	for _, c := range []struct {
		name, in    string
		lines, long []string
	}{
		{"exactly the limit", x + "\n" + x + "\r\n" + x, []string{x, x, x}, nil},
		{"one more", x + "x\nshort\n" + x + "x\r\n" + x + "x", []string{"short"}, []string{"?", "?", "?"}},
		{"far more", strings.Repeat(x, 5000) + "\nshort", []string{"short"}, []string{"?"}},
		{"an answer", `{"id":7,"result":"` + x + "\"}\nshort", []string{"short"}, []string{"7"}},
		{"an answer far longer", `{"result":"` + strings.Repeat(x, 5000) + `","id":7}` + "\nshort", []string{"short"}, []string{"7"}},
		{"blank lines", "\n\r\n\r\na\r\n\n", []string{"a"}, nil},
		{"a carriage return inside", "a\rb\n\r\r\n", []string{"a\rb", "\r"}, nil},
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.in), "by bytes": iotest.OneByteReader(strings.NewReader(c.in))} {
			lines, long := readLines(t, r, limit)
			if !slices.Equal(lines, c.lines) || !slices.Equal(long, c.long) {
				t.Errorf("%s %s: got %.60q and %q", c.name, how, lines, long)
			}
		}
	}
}

// The request that a long line answers is known before its end, when the line
// allows it.
func TestLineReaderTellsEarly(t *testing.T) {
	r, w := io.Pipe()
	told := make(chan int64, 1)
	l := newLineReader(r, 100, func(id int64, known bool) { told <- id })
	end := make(chan error)
	go func() {
		_, err := l.next()
		end <- err
	}()
	io.WriteString(w, `{"jsonrpc":"2.0","id":3,"result":"`+strings.Repeat("x", 200_000))
	if id := <-told; id != 3 {
		t.Errorf("told %d", id)
	}
	w.Close()
	if err := <-end; err != io.EOF {
		t.Error(err)
	}
}

func TestEnvelopeScan(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,"result":{}}`:                               "1",
		` { "result" : [{"id":2}] , "id" : 1 } `:             "1",
		`{"error":{"code":1,"message":"\"id\":3"},"id":"1"}`: "1",
		`{"id":1.0,"result":null}`:                           "1",
		`{"id":1,"x":"}","result":"{\\"}`:                    "1",
		`{"id":1,"method":"m","params":{}}`:                  "",
		`{"method":"m","id":1,"result":{}}`:                  "",
		`{"id":null,"error":{}}`:                             "",
		`{"id":"x","result":{}}`:                             "",
		`{"id":1}`:                                           "",
		`{"result":{"id":1}}`:                                "",
		`[{"id":1,"result":{}}]`:                             "",
		`"id":1,"result":2`:                                  "",
		`x{"id":1,"result":2}`:                               "",
		`{"id":{"a":1},"result":2}`:                          "",
		`{"id":[1],"result":2}`:                              "",
		`{"ID":1,"result":2}`:                                "",
		`{"id":1,"results":2}`:                               "",
		`{"` + strings.Repeat("n", 100) + `":1,"id":9007199254740993,"result":2}`: "9007199254740993",
		`{"id":"` + strings.Repeat("1", 100) + `","result":2}`:                    "",
	} {
		var s envelopeScan
		s.feed([]byte(text))
		got := ""
		if id, ok := s.answers(); ok {
			got = fmt.Sprint(id)
		}
		if got != want {
			t.Errorf("%s answers %q, want %q", text, got, want)
		}
	}
}

// The scan agrees with the decoder wherever that understands the text.
func FuzzEnvelopeScan(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,{"id":2}]}}`, `{"result":{},"id":"12"}`, `{"id":1,"error":{"code":1,"message":"\\\""}}`,
		`{"method":"m","id":1}`, `{"id":null,"error":{}}`, `{"id":1e0,"result":1}`, `{"i\u0064":1,"result":1}`, `{"id":1,"result":1}{`, `{"id":1,"id":2,"result":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s envelopeScan
		s.feed(text)
		got, ok := s.answers()
		if len(s.name) > scanName || len(s.value) > scanID {
			t.Fatalf("%q: the scan grows", text)
		}
		members, err := jsonrpc.Members(text)
		if err != nil {
			return // duplicate names too: which one counts is anybody's guess
		}
		var want int64
		hasID, response, called := false, false, false
		for _, m := range members {
			switch m.Name {
			case "id":
				if id, err := jsonrpc.ParseID(m.Value); err == nil && len(m.Value) <= scanID {
					want, hasID = id.Int64()
				}
			case "result", "error":
				response = true
			case "method":
				called = true
			}
			if bytes.Contains(text, []byte(`\u`)) {
				return // an escaped name: legal, never written, not recognised
			}
		}
		if wantOK := hasID && response && !called; ok != wantOK || ok && got != want {
			t.Fatalf("%q: the scan says %d %v, the decoder %d %v", text, got, ok, want, wantOK)
		}
	})
}

// However the bytes come in, the lines are those of a plain split.
func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nlonger than the limit\n{\"id\":1,\"result\":\"xxxxxxxxxx\"}\nz"), int64(10), uint64(1))
	f.Add([]byte("\r\n\r\r\n"), int64(1), uint64(2))
	f.Add(bytes.Repeat([]byte("y"), 70_000), int64(65_000), uint64(3))
	f.Fuzz(func(t *testing.T, in []byte, limit int64, seed uint64) {
		limit = 1 + (limit&0xffff+0xffff)&0xffff
		var want []string
		tooLong := 0
		for line := range bytes.SplitSeq(in, []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			switch {
			case int64(len(line)) > limit:
				tooLong++
			case len(line) > 0:
				want = append(want, string(line))
			}
		}
		lines, long := readLines(t, &chopped{in, rand.New(rand.NewPCG(seed, 0))}, limit)
		if !slices.Equal(lines, want) || len(long) != tooLong {
			t.Fatalf("got %q and %d long ones, want %q and %d", lines, len(long), want, tooLong)
		}
	})
}

// chopped gives its bytes in pieces of random size.
type chopped struct {
	rest []byte
	rand *rand.Rand
}

func (c *chopped) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1+c.rand.IntN(len(p))], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// A message that was read is not overwritten by the next.
func TestLinesHaveMemoryOfTheirOwn(t *testing.T) {
	l := newLineReader(strings.NewReader(`{"a":1}`+"\n"+`{"b":2}`+"\n"), 100, nil)
	first, _ := l.next()
	if _, err := l.next(); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(first) || string(first) != `{"a":1}` {
		t.Errorf("the first line became %q", first)
	}
}

// A server that has said a long line once costs no more at rest than another, and
// what came with the end of the line is not lost with the buffer.
func TestALongLineBorrowsItsBuffer(t *testing.T) {
	long := strings.Repeat("x", 3*lineBuffer)
	r, w := io.Pipe()
	defer r.Close()
	l := newLineReader(r, 1<<20, nil)
	go func() {
		_, _ = io.WriteString(w, long+"\nshort\n")
		_, _ = io.WriteString(w, "last\n")
		w.Close()
	}()
	for _, want := range []string{long, "short", "last"} {
		if got, err := l.next(); err != nil || string(got) != want {
			t.Fatalf("%.20q, %v, want %.20q", got, err, want)
		}
		if borrowed := l.long != nil; borrowed != (want != "last") {
			t.Errorf("after %.20q the long buffer is borrowed: %v", want, borrowed)
		}
	}
}
