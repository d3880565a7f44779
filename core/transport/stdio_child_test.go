package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// childMarker, as the first argument, makes the test binary play a server.
const childMarker = "drawbridge-stdio-child"

// childCommand returns the command of a server that plays one of the roles of child.
func childCommand(t testing.TB, role ...string) (string, []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self, append([]string{childMarker}, role...)
}

func child(role []string) int {
	time.AfterFunc(2*time.Minute, func() { os.Exit(70) })
	switch role[0] {
	case "suite":
		return hostSuite()
	case "echo": // answers every request with its params
		eachLine(func(m *jsonrpc.Message) {
			if m.Kind() == jsonrpc.Request {
				os.Stdout.Write(append(jsonrpc.Reply(m.ID, m.Params).Append(nil), '\n'))
			}
		})
	case "write": // writes its argument to stdout, then waits for the end of input
		os.Stdout.WriteString(role[1])
		io.Copy(io.Discard, os.Stdin)
	case "long": // answers "long" with {prefix}xxx…{suffix}, n x, and a line end; not "hold"
		n, _ := strconv.Atoi(role[2])
		text := role[1] + strings.Repeat("x", n) + role[3] + "\n"
		eachLine(func(m *jsonrpc.Message) {
			switch m.Method {
			case "long":
				os.Stdout.WriteString(text)
			case "ping":
				os.Stdout.Write(append(jsonrpc.Reply(m.ID, []byte(`{}`)).Append(nil), '\n'))
			}
		})
	case "raw": // answers the first message with the bytes that came
		line, _ := bufio.NewReader(os.Stdin).ReadBytes('\n')
		got, _ := json.Marshal(string(line))
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"method\":\"got\",\"params\":{\"line\":%s}}\n", got)
		io.Copy(io.Discard, os.Stdin)
	case "env": // tells its environment and working directory
		dir, _ := os.Getwd()
		params, _ := json.Marshal(map[string]any{"env": os.Environ(), "dir": dir})
		os.Stdout.Write(append(jsonrpc.Notify("env", params).Append(nil), '\n'))
		io.Copy(io.Discard, os.Stdin)
	case "mute": // closes stdout and lives on
		signal.Ignore()
		os.Stderr.WriteString("closing my output\n")
		os.Stdout.Close()
		time.Sleep(time.Minute)
	case "deaf": // closes stdin and lives on
		os.Stdin.Close()
		fmt.Println(`{"jsonrpc":"2.0","method":"deaf"}`)
		time.Sleep(time.Minute)
	case "unread": // never reads
		fmt.Println(`{"jsonrpc":"2.0","method":"up"}`)
		time.Sleep(time.Minute)
	case "last": // says something on both streams and exits
		fmt.Println(`{"jsonrpc":"2.0","method":"last"}`)
		fmt.Fprint(os.Stderr, "last words")
		return 3
	case "host": // runs a server, and says when it is up
		d := transport.NewStdio(transport.StdioConfig{Command: role[1], Args: role[2:]})
		r := new(transporttest.Recorder)
		conn, err := d.Connect(context.Background(), r)
		if err == nil {
			err = conn.Send(1, transport.Request{Method: "ping"})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		for len(r.Events()) == 0 {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("up")
		time.Sleep(time.Minute)
	default:
		fmt.Fprintln(os.Stderr, "no such role:", role)
		return 64
	}
	return 0
}

func eachLine(fn func(*jsonrpc.Message)) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if m, decodeErr := jsonrpc.Decode(bytes.TrimSpace(line)); decodeErr == nil {
			fn(m)
		}
		if err != nil {
			return
		}
	}
}

// suiteMaxBytes is the limit of the connections to hostSuite.
const suiteMaxBytes = 64 << 10

func hostSuite() int {
	var (
		s  transporttest.Server
		mu sync.Mutex
	)
	write := func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		os.Stdout.Write(append(line, '\n'))
	}
	eachLine(func(m *jsonrpc.Message) {
		switch m.Method {
		case transporttest.MethodFail:
			write(jsonrpc.Reply(m.ID, fmt.Appendf(nil, "%q", strings.Repeat("x", suiteMaxBytes))).Append(nil))
		case transporttest.MethodDie:
			os.Exit(3)
		default:
			s.Handle(context.Background(), m, func(m *jsonrpc.Message) { write(m.Append(nil)) })
		}
	})
	return 0
}
