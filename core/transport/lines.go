package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// lineBuffer is what a server that says nothing costs, longBuffers are lent to the
// lines that do not fit.
const lineBuffer = 4 << 10

var longBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// lineReader splits a server's stdout into lines of any length up to max, and
// discards longer ones in bounded memory (T8; cases 15, 17, 18).
type lineReader struct {
	from  io.Reader
	small *bufio.Reader
	long  *bufio.Reader // while a long line is read, else nil
	max   int64
	// tooLong is called once for each line over max: as soon as it is known which
	// request the line answers, else at the end of the line with known false.
	tooLong func(id int64, known bool)
}

func newLineReader(r io.Reader, limit int64, tooLong func(id int64, known bool)) *lineReader {
	return &lineReader{from: r, small: bufio.NewReaderSize(r, lineBuffer), max: limit, tooLong: tooLong}
}

// chunk returns the next line, or with [bufio.ErrBufferFull] a part of it. The bytes
// hold until the next call. A part has emptied its buffer, and a larger one can take
// over; it is given back when it is empty between two lines.
func (l *lineReader) chunk() ([]byte, error) {
	if l.long != nil {
		return l.long.ReadSlice('\n')
	}
	chunk, err := l.small.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = longBuffers.Get().(*bufio.Reader)
		l.long.Reset(l.from)
	}
	return chunk, err
}

func (l *lineReader) giveBack() {
	if l.long != nil && l.long.Buffered() == 0 {
		l.long.Reset(nil)
		longBuffers.Put(l.long)
		l.long = nil
	}
}

// next returns the next line without its line end, "\n" or "\r\n", in memory of
// its own. A last line that has no end is a line too. The error is the reader's.
func (l *lineReader) next() ([]byte, error) {
	l.giveBack()
	var line []byte
	for {
		chunk, err := l.chunk()
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
		chunk, err = l.chunk()
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
