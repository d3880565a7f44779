package transport

import (
	"bufio"
	"io"
	"sync"
	"unicode/utf8"
)

// The bounds of what is kept of a server's non-protocol output (case 8).
const (
	// maxLogLine bounds one line, in bytes. What is longer is cut, not split: a
	// secret must not be hidden from masking by falling on a border. For the same
	// reason it is more than what is shown of a line, which is cut once masked.
	maxLogLine = 16 << 10
	// lastWords is how many lines an error carries: a Node.js stack trace with
	// its message on top fits.
	lastWords = 20
)

// serverOutput takes what a server says outside the protocol: it passes each line
// on and remembers the last ones.
type serverOutput struct {
	log LogFunc

	mu   sync.Mutex
	last []string
}

// line takes one line of "stderr" or "stdout".
func (o *serverOutput) line(source string, b []byte) {
	text := cutLine(b)
	o.mu.Lock()
	if len(o.last) == lastWords {
		o.last = append(o.last[:0], o.last[1:]...)
	}
	o.last = append(o.last, text)
	o.mu.Unlock()
	if o.log != nil {
		o.log(source, text)
	}
}

// note says something of the transport's own.
func (o *serverOutput) note(text string) {
	if o.log != nil {
		o.log("transport", text)
	}
}

// words returns the last lines.
func (o *serverOutput) words() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.last...)
}

func cutLine(b []byte) string {
	if len(b) <= maxLogLine {
		return string(b)
	}
	n := maxLogLine
	for n > maxLogLine-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + " …"
}

// drain reads stderr to its end, whatever comes (case 8). A line ends with "\n" or
// "\r\n". A lone "\r" starts the line anew, as a terminal does: of a progress bar
// its last state remains.
func (o *serverOutput) drain(r io.Reader) {
	in := bufio.NewReaderSize(r, lineBuffer)
	var line []byte
	returned, some := false, false // after a "\r"; there is a line to end
	end := func() {
		if some {
			o.line("stderr", line)
		}
		line, returned, some = line[:0], false, false
	}
	for {
		c, err := in.ReadByte()
		switch {
		case err != nil:
			end()
			return
		case c == '\n':
			end()
		case c == '\r':
			returned = true
		default:
			if returned {
				line, returned = line[:0], false
			}
			some = true
			if len(line) <= maxLogLine { // one more, so that the cut shows
				line = append(line, c)
			}
		}
	}
}
