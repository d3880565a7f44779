package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A client's streams are joined to the instance; one that cannot be served is told why,
// and a command's words and errors come back.
func TestStdioAndClient(t *testing.T) {
	dir := t.TempDir()
	if err := Stdio(t.Context(), dir, "a", "", strings.NewReader(""), io.Discard); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody runs: got %v", err)
	}
	i, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- i.Serve(ctx, Handlers{
			Stdio: func(client, server string) (func(context.Context, io.Reader, io.Writer) error, error) {
				if server != "" {
					return nil, errors.New("no such server")
				}
				return func(_ context.Context, r io.Reader, w io.Writer) error {
					line, err := bufio.NewReader(r).ReadString('\n')
					fmt.Fprintf(w, "%s said %s", client, line)
					return err
				}, nil
			},
			Client: func(args []string, w io.Writer) error {
				if len(args) == 0 {
					return errors.New("no arguments")
				}
				_, err := io.WriteString(w, strings.Join(args, "+"))
				return err
			},
		})
	}()
	var out strings.Builder
	if err := Stdio(t.Context(), dir, "a", "", strings.NewReader("hello\n"), &out); err != nil || out.String() != "a said hello\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if err := Stdio(t.Context(), dir, "a", "x", strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), "no such server") {
		t.Errorf("got %v", err)
	}
	out.Reset()
	if err := Client(t.Context(), dir, []string{"add", "x"}, &out); err != nil || out.String() != "add+x" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if err := Client(t.Context(), dir, []string{}, &out); err == nil || err.Error() != "no arguments" {
		t.Errorf("got %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	i.Close()
}
