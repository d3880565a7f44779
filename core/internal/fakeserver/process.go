package fakeserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lifetime bounds a process that refuses to end.
const lifetime = 2 * time.Minute

// run plays the script over a pipe and returns the exit code.
func run(s *Script, stdin io.Reader, stdout, stderr *os.File) int {
	if s.Sleep {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(lifetime)
		return 0
	}
	j, err := openJournal(s.Journal)
	if err != nil {
		fmt.Fprintln(stderr, "fake server: journal:", err)
		return 64
	}
	j.note(Started, "")
	exit := func(e Exit) {
		time.Sleep(e.After)
		j.note(Exited, strconv.Itoa(e.Code))
		quit(e.Code)
	}
	time.AfterFunc(lifetime, func() { exit(Exit{Code: 70}) })

	heed(s, j)
	if err := overture(s, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "fake server:", err)
		return 64
	}
	if s.Exit != nil {
		if s.Exit.After == 0 {
			exit(*s.Exit)
		}
		go exit(*s.Exit)
	}

	out := &lineWriter{w: stdout, eol: s.EOL, noise: s.Noise}
	p := newPeer(s, exit)
	p.broadcast = out.send
	readLines(stdin, func(line []byte) {
		j.note(Received, string(line))
		p.handle(context.Background(), line, out)
	})
	j.note(EndOfInput, "")
	if s.IgnoreEOF {
		select {} // ends with the lifetime, or by force
	}
	return 0
}

// quit ends the process without the second that the race detector spends on its
// last reports in os.Exit: tests measure how soon a server is gone.
func quit(code int) { syscall.Exit(code) }

// heed decides what a request to terminate does.
func heed(s *Script, j *journal) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		for range signals {
			j.note(Terminated, "")
			if !s.IgnoreTERM {
				quit(143)
			}
		}
	}()
}

// overture does all that comes before the first message is read.
func overture(s *Script, stdout, stderr *os.File) error {
	if s.Grandchild != "" {
		if err := startGrandchild(s.Grandchild, stdout, stderr); err != nil {
			return err
		}
	}
	stderr.WriteString(s.Stderr)
	flood(stderr, s.StderrFlood, s.StderrLines)
	if s.StderrEvery > 0 {
		go func() {
			for i := 0; ; i++ {
				fmt.Fprintf(stderr, "line %d: still here\n", i)
				time.Sleep(s.StderrEvery)
			}
		}()
	}
	_, err := stdout.Write(s.Preamble)
	return err
}

func startGrandchild(pidFile string, stdout, stderr *os.File) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	script, err := json.Marshal(Script{Sleep: true})
	if err != nil {
		return err
	}
	cmd := exec.Command(self, marker, string(script))
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	// Renamed into place, so that a reader never sees half a number.
	if err := os.WriteFile(pidFile+".new", []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return err
	}
	return os.Rename(pidFile+".new", pidFile)
}

// flood writes n bytes, as lines of 80 characters or as a single one.
func flood(w io.Writer, n int, lines bool) {
	if n == 0 {
		return
	}
	text := bytes.Repeat([]byte("x"), n)
	if lines {
		for i := 79; i < n; i += 80 {
			text[i] = '\n'
		}
	}
	w.Write(text)
}

// readLines calls fn for every line, however long, until the input ends.
func readLines(r io.Reader, fn func(line []byte)) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			fn(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "fake server: read:", err)
			}
			return
		}
	}
}

// lineWriter sends messages as lines, whole ones, from any goroutine.
type lineWriter struct {
	mu    sync.Mutex
	w     io.Writer
	eol   string
	noise []string
}

func (l *lineWriter) send(m any) { l.raw(encode(m), isAnswer(m)) }

// answerRaw writes bytes that stand in place of an answer.
func (l *lineWriter) answerRaw(b []byte) { l.raw(b, true) }

func (l *lineWriter) raw(b []byte, noisy bool) {
	eol := l.eol
	if eol == "" {
		eol = "\n"
	}
	var buf bytes.Buffer
	if noisy && len(l.noise) > 0 {
		buf.WriteString(strings.Join(l.noise, eol) + eol)
	}
	buf.Write(b)
	buf.WriteString(eol)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w.Write(buf.Bytes())
}
