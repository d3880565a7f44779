// Command client is the client under test of the official conformance suite: a
// session of core/client over Streamable HTTP that does what a person's client
// would do with the server it meets. The suite starts it with the server's URL as
// the last argument and says in the environment which scenario runs and which
// revision the server speaks.
//
// Nothing here helps the session to pass: the revision is found out by the session
// itself, as always, and is only compared with the one that was announced.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// patience bounds a scenario; the suite itself waits for 30 s.
const patience = 25 * time.Second

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: client URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	err := run(ctx, os.Args[len(os.Args)-1])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run plays the scenario against the server at url.
func run(ctx context.Context, url string) error {
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	play := scenarios[scenario]
	if play == nil {
		play = useEverything
	}
	var given given
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return fmt.Errorf("read the scenario's context: %w", err)
		}
	}
	s, stop, err := connect(url)
	if err != nil {
		return err
	}
	defer stop()
	if err := settle(ctx, s); err != nil {
		return err
	}
	// Legacy revisions are negotiated, so that only the era is certain.
	want := mcp.Version(os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"))
	if got := s.Status().Version; want.Valid() && got.Modern() != want.Modern() {
		return fmt.Errorf("the session speaks %s to a server of %s", got, want)
	}
	return play(ctx, s, given)
}

// connect starts a session; stop ends it and waits for its end.
func connect(url string) (s *client.Session, stop func(), err error) {
	dialer, err := transport.NewHTTP(transport.HTTPConfig{URL: url})
	if err != nil {
		return nil, nil, err
	}
	key, err := era.URLKey(url)
	if err != nil {
		return nil, nil, err
	}
	s = client.New(client.Config{
		Name: "conformance", Dialer: dialer, Key: key, Verdicts: era.NewVerdicts(),
		Info:     mcp.Implementation{Name: "drawbridge-conformance", Version: "0"},
		Handlers: client.Handlers{Elicit: accept},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	return s, func() { cancel(); <-ended }, nil
}

// settle waits until the session is ready and has its lists, or needs a person.
func settle(ctx context.Context, s *client.Session) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		st := s.Status()
		switch st.State {
		case client.Ready:
			if listed(st) {
				return nil
			}
		case client.Failed, client.Blocked, client.SignIn:
			return fmt.Errorf("the session is %s: %w", st.State, st.Err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the session is %s", st.State), st.Err)
		}
	}
}

// listed reports whether every list was fetched or has failed.
func listed(st client.Status) bool {
	for _, l := range st.Lists {
		if l.Count < 0 && l.Err == nil {
			return false
		}
	}
	return true
}
