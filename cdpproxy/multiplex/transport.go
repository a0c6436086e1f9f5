package multiplex

import (
	"bufio"
	"errors"
	"io"
)

// Transport carries whole messages to and from one browser. Read is called by one
// goroutine, and Write by one at a time.
type Transport interface {
	// Read returns the next message of the browser. The caller may change it.
	Read() ([]byte, error)
	// Write sends a command. It may append to the message.
	Write(message []byte) error
	// Close ends the connection, and Read and Write with it.
	Close() error
}

// pieceSize is how much of a pipe is read at once.
const pieceSize = 256 << 10

type pipe struct {
	in     *bufio.Reader
	out    io.Writer
	closed func() error
}

// Pipe is the transport over a browser's debugging pipe: each message ends with a NUL.
func Pipe(in io.ReadCloser, out io.WriteCloser) Transport {
	return &pipe{bufio.NewReaderSize(in, pieceSize), out, func() error { return errors.Join(in.Close(), out.Close()) }}
}

func (p *pipe) Read() ([]byte, error) {
	text, err := p.in.ReadBytes(0)
	if err != nil {
		return nil, err // what came without its end is no message
	}
	return text[:len(text)-1], nil
}

// Write writes the message with its end. No other NUL is in it: its parts were read
// as JSON.
func (p *pipe) Write(message []byte) error {
	_, err := p.out.Write(append(message, 0))
	return err
}

func (p *pipe) Close() error { return p.closed() }
