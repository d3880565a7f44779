package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// The outcomes of a call, as far as the journals are concerned.
const (
	succeeded uint8 = iota + 1 // it ran once
	failed                     // it ran once at most
	unsent                     // it did not run
)

// callTotal bounds a call; patience is how much later it may end on a busy machine.
const (
	callTotal = 20 * time.Second
	patience  = 60 * time.Second
)

// caller calls one session's tools in turn, and remembers how each call ended.
type caller struct {
	n        int
	session  *client.Session
	long     string // a tool that takes its time, with its arguments
	longArgs json.RawMessage
	random   *rand.Rand

	outcomes []uint8 // of echo, by number
	codes    map[string]int
}

func (c *caller) run(ctx context.Context, t testing.TB) {
	for {
		select {
		case <-time.After(c.upTo(2 * time.Second)):
		case <-ctx.Done():
			return
		}
		if c.random.IntN(20) == 0 {
			c.giveUp(t)
		} else {
			c.echo(t)
		}
	}
}

func (c *caller) upTo(d time.Duration) time.Duration { return time.Duration(c.random.Int64N(int64(d))) }

// echo makes a call that can be told from all others, wherever it turns up.
func (c *caller) echo(t testing.TB) bool {
	text := fmt.Sprintf("c%d-%d", c.n, len(c.outcomes))
	began := time.Now()
	result, err := c.session.CallTool(context.Background(), "echo", json.RawMessage(`{"text":"`+text+`"}`), nil)
	if took := time.Since(began); took > callTotal+patience {
		t.Errorf("%s: ended after %v", text, took)
	}
	outcome := failed
	switch code := transport.CodeOf(err); {
	case err == nil && strings.Contains(string(result), `"`+text+`"`):
		outcome = succeeded
	case err == nil:
		t.Errorf("%s: answered with %s", text, result)
	case code == transport.NotReady, code == transport.BreakerOpen, code == transport.Busy:
		outcome = unsent
	}
	c.outcomes = append(c.outcomes, outcome)
	c.count(t, text, err)
	return outcome == succeeded
}

// giveUp makes a long call and cancels it soon.
func (c *caller) giveUp(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), c.upTo(300*time.Millisecond))
	defer cancel()
	_, err := c.session.CallTool(ctx, c.long, c.longArgs, nil)
	if err == nil {
		t.Errorf("caller %d: %s ended by itself", c.n, c.long)
	}
	c.count(t, c.long, err)
}

// count files an error under its words, which must be of the closed set that a dying
// server can cause (T6).
func (c *caller) count(t testing.TB, what string, err error) {
	if err == nil {
		c.codes["ok"]++
		return
	}
	te, ok := errors.AsType[*transport.Error](err)
	if !ok {
		t.Errorf("caller %d: %s: %v", c.n, what, err)
		return
	}
	switch te.Code {
	case transport.Exited, transport.Broken, transport.NotReady, transport.BreakerOpen, transport.SessionRejected, transport.Cancelled:
	default:
		t.Errorf("caller %d: %s: %v", c.n, what, err)
	}
	c.codes[string(te.Code)]++
}

var mark = regexp.MustCompile(`\bc(\d+)-(\d+)\b`)

// ran counts by caller and number how often the journals say that a call may have
// reached its tool.
func ran(t testing.TB, folder string) map[[2]int]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d journals, %v", len(files), err)
	}
	times := map[[2]int]int{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			m := mark.FindSubmatch(lines.Bytes())
			if m == nil {
				continue
			}
			c, _ := strconv.Atoi(string(m[1]))
			n, _ := strconv.Atoi(string(m[2]))
			if strings.HasPrefix(lines.Text(), refused) {
				times[[2]int{c, n}]--
			} else {
				times[[2]int{c, n}]++
			}
		}
		if err := lines.Err(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		_ = f.Close()
	}
	return times
}
