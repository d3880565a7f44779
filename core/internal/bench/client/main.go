// Command client measures sessions of core/client against a server. See the
// package core/internal/bench, and gosdk-bench in core/internal/peers, which does
// the same with the Go SDK's client.
//
//	client [-mode calls|idle|ready] [-legacy] [flags] URL
//	client [-mode calls|idle|ready] [-legacy] [flags] COMMAND [ARG]...
//
// It prints one JSON object.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// ours opens sessions as the hub does, each with a dialer of its own and a server
// that it knows nothing of yet.
type ours struct {
	legacy bool
	target []string
}

func newConnector(legacy bool, target []string) connector { return ours{legacy, target} }

func (o ours) dialer() (transport.Dialer, era.Key, error) {
	if !strings.HasPrefix(o.target[0], "http://") {
		return transport.NewStdio(transport.StdioConfig{Command: o.target[0], Args: o.target[1:]}), era.SpecKey("bench"), nil
	}
	key, err := era.URLKey(o.target[0])
	if err != nil {
		return nil, key, err
	}
	d, err := transport.NewHTTP(transport.HTTPConfig{URL: o.target[0]})
	return d, key, err
}

func (o ours) open(ctx context.Context) (session, error) {
	dialer, key, err := o.dialer()
	if err != nil {
		return nil, err
	}
	verdicts := era.NewVerdicts()
	if o.legacy {
		verdicts.Put(key, era.Verdict{Era: era.Legacy, Version: mcp.V20251125, DecidedAt: time.Now(), TTL: era.DefaultTTL})
	}
	changed := make(chan struct{}, 1)
	s := client.New(client.Config{
		Name: "bench", Dialer: dialer, Key: key, Verdicts: verdicts,
		Info: mcp.Implementation{Name: "drawbridge-bench", Version: "0"},
		// The Go SDK sends whatever is called at once; so does a session that a
		// person has allowed to.
		Limits: client.Limits{Concurrency: client.Stateless},
		Handlers: client.Handlers{Changed: func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		}},
	})
	run, cancel := context.WithCancel(context.Background())
	r := &running{s, cancel, make(chan struct{})}
	go func() {
		defer close(r.ended)
		s.Run(run)
	}()
	for {
		st := s.Status()
		if st.State == client.Ready && st.Lists[client.Tools].Count >= 0 {
			if st.Version.Legacy() != o.legacy {
				err = fmt.Errorf("the session speaks %s", st.Version)
			}
			break
		}
		if st.Err != nil {
			err = st.Err
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// running is a session with its goroutine.
type running struct {
	*client.Session
	cancel context.CancelFunc
	ended  chan struct{}
}

func (r *running) close() {
	r.cancel()
	<-r.ended
}

func (r *running) call(ctx context.Context, text string) (string, error) {
	arguments, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return "", err
	}
	result, err := r.CallTool(ctx, "echo", arguments, nil)
	if err != nil {
		return "", err
	}
	// As the SDK does for its caller, read the result.
	var answer struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(result, &answer); err != nil || len(answer.Content) != 1 {
		return "", fmt.Errorf("answered %s", result)
	}
	return answer.Content[0].Text, nil
}
