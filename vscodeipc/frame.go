package vscodeipc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

var errTooLarge = fmt.Errorf("the line is longer than %d bytes", maxLine)

// errPartial reports a stream that ended in the middle of a line.
var errPartial = errors.New("the connection ended in the middle of a line")

// lineReader splits a stream into lines (spec 3).
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReader(r)} }

// next returns the next line that is not empty, without its end. The line is valid until
// the next call.
func (l lineReader) next() ([]byte, error) {
	for {
		line, err := l.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			line = bytes.Clone(line) // a long line has memory of its own, which is free after it
			for err == bufio.ErrBufferFull && len(line) < maxLine {
				var part []byte
				part, err = l.r.ReadSlice('\n')
				line = append(line, part...)
			}
		}
		switch {
		case err == bufio.ErrBufferFull || len(line) > maxLine:
			return nil, errTooLarge
		case err == io.EOF && len(line) > 0:
			return nil, errPartial
		case err != nil:
			return nil, err
		}
		if line = bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}); len(line) > 0 {
			return line, nil
		}
	}
}
