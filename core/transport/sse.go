package transport

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
)

var bom = []byte("\uFEFF")

const (
	// fieldRoom is what a line holds beside an event's data: name, colon, space.
	fieldRoom = 64
	// maxEventID bounds an id: it is sent back as a header.
	maxEventID = 4 << 10
	// A stream that rests holds little: the buffer grows once a read has filled it.
	restSize = 1 << 10
	readSize = 8 << 10
)

// event is one server-sent event with data.
type event struct {
	kind string // the event field, "" for the default "message"
	data []byte // never empty, and the caller's to keep
}

// eventReader reads server-sent events by the rules of the HTML standard,
// "9.2.6 Interpreting an event stream", as they arrive (T11): a byte order mark,
// lines ended by CRLF, CR or LF in any mix, comments, several data lines.
//
// It departs from the standard in one point. At the clean end of a stream an event
// without its blank line is delivered, since real servers end so (acceptance 48);
// but what it says about ids does not count, for a resumed stream would then lose
// an event that was cut.
type eventReader struct {
	from  io.Reader
	limit int64
	buf   []byte
	rest  []byte // of buf, unread

	line   []byte // so far
	first  bool   // no line has been read yet
	skipLF bool   // the last line ended with CR

	data    []byte
	hasData bool
	kind    string
	id      string // of the event being read
	done    bool

	lastID string        // of the last complete event, "" for none
	retry  time.Duration // as the server last asked, 0 if it did not
}

// newEventReader reads events whose data has at most limit bytes.
func newEventReader(r io.Reader, limit int64) *eventReader {
	return &eventReader{from: r, limit: limit, buf: make([]byte, restSize), first: true}
}

// next returns the next event that has data. The error is io.EOF at the clean end,
// TooLarge for an event over the limit, after which nothing can be read, or the
// reader's own.
func (s *eventReader) next() (event, error) {
	if s.done {
		return event{}, io.EOF
	}
	for {
		err := s.readLine()
		if errors.Is(err, io.EOF) {
			s.done = true
			if len(s.line) > 0 {
				if err := s.take(); err != nil {
					return event{}, err
				}
			}
			if ev, ok := s.dispatch(); ok {
				return ev, nil
			}
			return event{}, io.EOF
		}
		if err != nil {
			return event{}, err
		}
		if s.first {
			s.first = false
			s.line = bytes.TrimPrefix(s.line, bom)
		}
		if len(s.line) > 0 {
			err := s.take()
			s.line = s.line[:0]
			if err != nil {
				return event{}, err
			}
			continue
		}
		s.lastID = s.id
		if ev, ok := s.dispatch(); ok {
			return ev, nil
		}
	}
}

// readLine completes s.line, without its end.
func (s *eventReader) readLine() error {
	for {
		if s.skipLF && len(s.rest) > 0 {
			s.skipLF = false
			if s.rest[0] == '\n' {
				s.rest = s.rest[1:]
			}
		}
		if i := lineEnd(s.rest); i >= 0 {
			s.skipLF = s.rest[i] == '\r'
			s.keep(s.rest[:i])
			s.rest = s.rest[i+1:]
			return s.bounded()
		}
		s.keep(s.rest)
		s.rest = nil
		if err := s.bounded(); err != nil {
			return err
		}
		n, err := s.from.Read(s.buf)
		s.rest = s.buf[:n]
		if n == restSize {
			s.buf = make([]byte, readSize) // for the next
		}
		if n == 0 && err != nil {
			return err
		}
	}
}

// lineEnd returns where the first CR or LF is, -1 if there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// bounded refuses a line that is too long whatever it is, complete or not.
func (s *eventReader) bounded() error {
	if int64(len(s.line)+len(s.data)) > s.limit+fieldRoom {
		return s.tooLarge()
	}
	return nil
}

// keep appends to the line, but no more of a comment than that it is one.
func (s *eventReader) keep(b []byte) {
	if len(s.line) > 0 && s.line[0] == ':' {
		return
	}
	if len(s.line) == 0 && len(b) > 0 && b[0] == ':' {
		b = b[:1]
	}
	s.line = append(s.line, b...)
}

// take interprets one line that is not empty.
func (s *eventReader) take() error {
	line := s.line
	if s.first {
		line = bytes.TrimPrefix(line, bom)
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if s.hasData {
			s.data = append(s.data, '\n')
		}
		s.hasData = true
		s.data = append(s.data, value...)
		if int64(len(s.data)) > s.limit {
			return s.tooLarge()
		}
	case "event":
		s.kind = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 && len(value) <= maxEventID {
			s.id = string(value)
		}
	case "retry":
		s.retry = retryDelay(string(value), s.retry)
	}
	return nil
}

func (s *eventReader) tooLarge() error {
	s.done = true
	return &Error{Code: TooLarge, Limit: s.limit}
}

// dispatch ends an event; false when it has no data.
func (s *eventReader) dispatch() (event, bool) {
	ev := event{s.kind, s.data}
	s.kind, s.data, s.hasData = "", nil, false
	return ev, len(ev.data) > 0
}

// maxRetry caps the wait that a server may ask for before a stream is resumed.
const maxRetry = 60 * time.Second

// retryDelay reads a retry field, which has to be of digits alone.
func retryDelay(text string, otherwise time.Duration) time.Duration {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return otherwise
	}
	if text = strings.TrimLeft(text, "0"); len(text) > 6 {
		return maxRetry
	}
	var ms time.Duration
	for _, c := range []byte(text) {
		ms = ms*10 + time.Duration(c-'0')
	}
	return min(ms*time.Millisecond, maxRetry)
}
