//go:build unix

package transport

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A process whose start came too late for its Connect is ended: else the goroutine
// that waits for it would stay.
func TestProcessThatNobodyWantsIsEnded(t *testing.T) {
	before := goleak.IgnoreCurrent()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p, err := startProcess(ctx, &exec.Cmd{Path: sh, Args: []string{"sh", "-c", "sleep 60"}})
		if err == nil { // it was quicker than the context
			p.stop(0, func(string) {})
			p.closePipes()
		} else if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := goleak.Find(before)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// Bytes that are there are read however long it takes; waiting for more is limited
// in all, not for each read.
func TestPipeReaderLimit(t *testing.T) {
	f, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := &pipeReader{f: f}
	w.WriteString("abc")
	const limit = 200 * time.Millisecond
	r.limit(limit)
	time.Sleep(2 * limit) // the consumer is slow
	b := make([]byte, 1)
	for range 3 {
		if _, err := r.Read(b); err != nil {
			t.Fatalf("after a pause: %v", err)
		}
	}
	go func() { // somebody who keeps the pipe open and says a word now and then
		for range 1000 {
			if _, err := w.WriteString("x"); err != nil {
				return
			}
			time.Sleep(limit / 20)
		}
	}()
	begin := time.Now()
	for {
		if _, err := r.Read(b); err != nil {
			break
		}
	}
	if took := time.Since(begin); took < limit/2 || took > 40*limit {
		t.Errorf("the rest took %v", took)
	}

	// A limit also ends a read that is waiting already.
	f, w2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w2.Close()
	r = &pipeReader{f: f}
	ended := make(chan error)
	go func() {
		_, err := r.Read(make([]byte, 1))
		ended <- err
	}()
	time.Sleep(10 * time.Millisecond)
	r.limit(0)
	if err := <-ended; err == nil {
		t.Error("the read succeeded")
	}
}
