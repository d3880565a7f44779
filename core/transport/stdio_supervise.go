package transport

import "time"

// supervise waits for the end of the connection, from whichever side, clears up
// and reports it.
func (c *stdioConn) supervise() {
	reason := c.wait()
	c.ledger.End()
	close(c.ending)
	if c.proc.hasExited() {
		// What it said last is not lost, nor is it waited for without end.
		c.proc.stdout.limit(leftover)
		c.proc.stderr.limit(leftover)
		c.join(nil)
	}
	exitedItself := c.proc.hasExited()
	grace := eofGrace
	if reason != "" {
		grace = 0 // it had its time
	}
	c.proc.stop(grace, c.output.note)
	c.proc.stdout.limit(leftover / 3)
	c.proc.stderr.limit(leftover / 3)
	c.join(c.writeDone)
	c.proc.closePipes()

	err := c.verdict(reason, exitedItself)
	c.ledger.TakeAll()
	told := c.ledger.Report(func() {
		stopped := c.stopping()
		close(c.released)
		if !stopped {
			c.sink.Closed(err)
		}
	})
	if !told {
		close(c.released)
	}
	c.ledger.Silence(0)
}

// wait returns the reason for which the connection ends: "eof" or "write" when the
// server closed a stream, "" when it exited or Close was called.
func (c *stdioConn) wait() string {
	reason := ""
	select {
	case <-c.proc.exited:
	case <-c.stop:
	case <-c.readDone:
		reason = "eof"
	case <-c.unwanted:
		reason = "write"
	}
	if reason != "" {
		c.proc.stdin.Close()
		c.proc.waitExit(lastGasp, c.stop)
	}
	return reason
}

// join waits for the goroutines that call the sink, and for more if not nil. A sink
// may hold them back as long as it likes, unless the owner is closing.
func (c *stdioConn) join(more <-chan struct{}) {
	var hurry <-chan time.Time
	for _, done := range []<-chan struct{}{c.readDone, c.drainDone, more} {
		if done == nil {
			continue
		}
		for waiting := true; waiting; {
			stop := c.stop
			if hurry != nil {
				stop = nil
			}
			select {
			case <-done:
				waiting = false
			case <-stop:
				t := time.NewTimer(sinkGrace)
				defer t.Stop()
				hurry = t.C
			case <-hurry:
				return
			}
		}
	}
}

func (c *stdioConn) stopping() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// verdict says how the connection ended, and tells the breaker.
func (c *stdioConn) verdict(reason string, exitedItself bool) error {
	if c.stopping() {
		c.lease.Nothing()
		return nil
	}
	e := &Error{Code: Broken, Reason: reason, Words: c.output.words()}
	if exitedItself {
		e.Code, e.Reason = Exited, ""
		e.ExitCode, e.Signal = exitStatus(c.proc.state)
	}
	// An orderly exit after work was done says nothing bad about the server
	// (basic/transports/stdio "Shutdown"); any other end does.
	if !c.answered || !exitedItself || e.ExitCode != 0 || e.Signal != "" {
		c.lease.Failure()
		if c.answered {
			c.dialer.failed()
		}
	}
	return e
}
