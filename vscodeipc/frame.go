package vscodeipc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

var errTooLarge = fmt.Errorf("the line is longer than %d bytes", maxLine)

// errPartial reports a stream that ended in the middle of a line.
var errPartial = errors.New("the connection ended in the middle of a line")

const (
	firstBuffer = 4 << 10
	keepBuffer  = 64 << 10
)

// lineReader splits a stream into lines (spec 3). It buffers one line at most, and
// releases a large buffer after the line that needed it.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int // unread bytes are buf[start:end]
	scanned    int // so many of these are known to contain no end of line
	err        error
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: r} }

// next returns the next line that is not empty, without its end. The line is valid until
// the next call.
func (l *lineReader) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.start+l.scanned:l.end], '\n'); i >= 0 {
			length := l.scanned + i
			if length+1 > maxLine {
				return nil, errTooLarge
			}
			line := l.buf[l.start : l.start+length]
			l.start += length + 1
			l.scanned = 0
			line = bytes.TrimSuffix(line, []byte{'\r'})
			if len(line) > 0 {
				return line, nil
			}
			continue
		}
		l.scanned = l.end - l.start
		if l.scanned >= maxLine {
			return nil, errTooLarge
		}
		if l.err != nil {
			if l.err == io.EOF && l.scanned > 0 {
				return nil, errPartial
			}
			return nil, l.err
		}
		l.room()
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
	}
}

// room makes space for at least one more byte after the unread ones.
func (l *lineReader) room() {
	held := l.end - l.start
	switch {
	case held == 0 && len(l.buf) > keepBuffer:
		l.buf = make([]byte, firstBuffer)
		l.start, l.end = 0, 0
	case held == 0 && l.buf != nil:
		l.start, l.end = 0, 0
	case l.end == len(l.buf) && held > len(l.buf)/2 || l.buf == nil:
		grown := make([]byte, min(max(firstBuffer, 2*len(l.buf)), maxLine+keepBuffer))
		copy(grown, l.buf[l.start:l.end])
		l.buf, l.start, l.end = grown, 0, held
	case l.end == len(l.buf):
		copy(l.buf, l.buf[l.start:l.end])
		l.start, l.end = 0, held
	}
}
