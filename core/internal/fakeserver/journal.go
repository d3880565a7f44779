package fakeserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Events of a journal.
const (
	Started    = "started"
	Received   = "received" // Text is the line
	EndOfInput = "end of input"
	Terminated = "terminated" // asked to, by a signal
	Exited     = "exited"     // by its own decision; Text is the code
)

// Entry is one line of a server's journal. All processes given the same journal
// write to it, in order.
type Entry struct {
	PID   int
	Event string
	Text  string `json:",omitempty"`
}

// ReadJournal reads what servers have noted so far. A file that does not exist
// yet is an empty journal.
func ReadJournal(path string) ([]Entry, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("journal %s: %w", path, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// journal appends to the file of a script. A nil file drops everything.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

func openJournal(path string) (*journal, error) {
	if path == "" {
		return &journal{}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file: f}, nil
}

// note writes one entry with one write, so that processes do not mix lines.
func (j *journal) note(event, text string) {
	if j.file == nil {
		return
	}
	line, err := json.Marshal(Entry{PID: os.Getpid(), Event: event, Text: text})
	if err != nil {
		panic(err) // strings always marshal
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.file.Write(append(line, '\n'))
}
