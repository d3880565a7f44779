package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader splits a server's stdout into lines of any length up to max, and
// discards longer ones in bounded memory (T8; cases 15, 17, 18).
type lineReader struct {
	r   *bufio.Reader
	max int64
	// tooLong is called once for each line over max: as soon as it is known which
	// request the line answers, else at the end of the line with known false.
	tooLong func(id int64, known bool)
}

func newLineReader(r io.Reader, limit int64, tooLong func(id int64, known bool)) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10), limit, tooLong}
}

// next returns the next line without its line end, "\n" or "\r\n", in memory of
// its own. A last line that has no end is a line too. The error is the reader's.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		chunk, err := l.r.ReadSlice('\n')
		if line == nil && err == nil { // the usual case: one copy of the exact size
			line = bytes.Clone(chunk)
		} else {
			line = append(line, chunk...)
		}
		text := trimLineEnd(line)
		// While a line grows, a trailing "\r" may yet prove to be its end.
		if int64(len(text)) > l.max {
			if err = l.discard(line, err); err != nil {
				return nil, err
			}
			line = nil
			continue
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// discard reads past the rest of a line of which head was read with err.
func (l *lineReader) discard(head []byte, err error) error {
	var scan envelopeScan
	told := false
	look := func(b []byte) {
		if told {
			return // nothing more to learn
		}
		scan.feed(b)
		if id, ok := scan.answers(); ok {
			told = true
			l.tooLong(id, true)
		}
	}
	look(head)
	for errors.Is(err, bufio.ErrBufferFull) {
		var chunk []byte
		chunk, err = l.r.ReadSlice('\n')
		look(chunk)
	}
	if !told {
		l.tooLong(0, false)
	}
	return err
}

func trimLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}
