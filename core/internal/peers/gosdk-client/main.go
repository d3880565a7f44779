// Command gosdk-client is a client made with the official Go SDK. It connects to
// a server, lists its tools, makes the calls it is told to, and prints what it
// saw as one JSON object.
//
//	gosdk-client [-version V] [-call NAME[=ARGUMENTS]]... URL
//	gosdk-client [-version V] [-call NAME[=ARGUMENTS]]... COMMAND [ARG]...
//
// Elicitations are accepted with {"name":"gosdk"}. Exit code 1 says that the
// server could not be reached or broke off; a failing call is in the output.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// report is what is printed.
type report struct {
	Server   *mcp.Implementation `json:"server"`
	Version  string              `json:"version"`
	Tools    []string            `json:"tools"`
	Calls    []call              `json:"calls"`
	Progress int64               `json:"progress"` // notifications seen
	Asked    int64               `json:"asked"`    // elicitations answered
}

type call struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	IsError bool   `json:"isError"`
	Error   string `json:"error,omitempty"`
}

type calls []string

func (c *calls) String() string     { return strings.Join(*c, " ") }
func (c *calls) Set(v string) error { *c = append(*c, v); return nil }

func main() {
	version := flag.String("version", "", "ask for this protocol version")
	limit := flag.Duration("timeout", time.Minute, "give up after this time")
	var wanted calls
	flag.Var(&wanted, "call", "call `NAME[=ARGUMENTS]`, arguments as a JSON object; repeatable")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	r, err := run(ctx, *version, wanted, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "gosdk-client:", err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(r)
}

func run(ctx context.Context, version string, wanted, target []string) (*report, error) {
	r := &report{Tools: []string{}, Calls: []call{}}
	var asked, progress atomic.Int64 // counted from the SDK's goroutines
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk-client", Version: "1.8.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "gosdk"}}, nil
		},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress.Add(1) },
	})
	session, err := client.Connect(ctx, transport(target), &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	r.Server, r.Version = session.InitializeResult().ServerInfo, session.InitializeResult().ProtocolVersion
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		r.Tools = append(r.Tools, tool.Name)
	}
	for i, w := range wanted {
		name, args, _ := strings.Cut(w, "=")
		p := &mcp.CallToolParams{Name: name, Arguments: json.RawMessage("{}")}
		if args != "" {
			p.Arguments = json.RawMessage(args)
		}
		p.SetProgressToken(fmt.Sprintf("token-%d", i))
		c := call{Name: name}
		if res, err := session.CallTool(ctx, p); err != nil {
			c.Error = err.Error()
		} else {
			c.Text, c.IsError = textOf(res), res.IsError
		}
		r.Calls = append(r.Calls, c)
	}
	r.Asked, r.Progress = asked.Load(), progress.Load()
	return r, nil
}

func transport(target []string) mcp.Transport {
	if strings.HasPrefix(target[0], "http://") || strings.HasPrefix(target[0], "https://") {
		return &mcp.StreamableClientTransport{Endpoint: target[0]}
	}
	cmd := exec.Command(target[0], target[1:]...)
	cmd.Stderr = os.Stderr
	return &mcp.CommandTransport{Command: cmd}
}

// textOf joins the text of a result.
func textOf(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}
