package vscodeipc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrTooLarge is wrapped by errors about a message that exceeds the limit of a line.
var ErrTooLarge = fmt.Errorf("the line is longer than %d bytes", maxLine)

// lineReader splits a stream into lines (spec 3).
type lineReader struct{ lines *bufio.Scanner }

func newLineReader(r io.Reader) lineReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	lines.Split(splitLine)
	return lineReader{lines}
}

// splitLine is a [bufio.SplitFunc]. Unlike [bufio.ScanLines] it ignores a line without an
// end at the end of the stream.
func splitLine(data []byte, _ bool) (advance int, line []byte, err error) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return 0, nil, nil
	}
	return end + 1, bytes.TrimSuffix(data[:end], []byte{'\r'}), nil
}

// next returns the next line that is not empty, without its end. The line is valid until
// the next call.
func (l lineReader) next() ([]byte, error) {
	for l.lines.Scan() {
		if line := l.lines.Bytes(); len(line) > 0 {
			return line, nil
		}
	}
	err := l.lines.Err()
	switch {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return nil, ErrTooLarge
	}
	return nil, err
}
