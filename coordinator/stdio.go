package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers bounds how long the end of the input waits for answers: everything
// has to be over within 2 s of it.
const lastAnswers = time.Second

// patientStdio is the SDK's stdio transport, but a line that is no message is
// answered and passed over, where the SDK would end the session; and the end of
// the input is told only when what was asked has been answered: a script may pipe
// its requests in and close.
type patientStdio struct{}

func (t *patientStdio) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &lockedWriter{to: os.Stdout}
	transport := &mcp.IOTransport{Reader: &messageReader{in: bufio.NewReader(os.Stdin), out: out}, Writer: out}
	conn, err := transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConn{Connection: conn, open: map[any]bool{}, answered: make(chan struct{}, 1)}, nil
}

// lockedWriter has whole messages written one after the other. The output stays
// open when the session ends: it is the process's.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(message)
}

func (w *lockedWriter) Close() error { return nil }

// messageReader reads the lines that are messages, and answers the others.
type messageReader struct {
	in   *bufio.Reader
	out  io.Writer
	line []byte // what is still to be read of the last one
	// batches says that the host speaks the version of MCP that has them.
	batches bool
}

func (r *messageReader) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		line, err := r.next()
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			if refused := r.check(trimmed); refused == nil {
				r.line = append(trimmed, '\n')
			} else if answerErr := r.refuse(refused); answerErr != nil {
				return 0, answerErr
			}
		}
		if err != nil && len(r.line) == 0 {
			return 0, err
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// Close leaves the input open, as the SDK does with the process's.
func (r *messageReader) Close() error { return nil }

// next returns the next line; of one that is too long only as much as shows that.
func (r *messageReader) next() (line []byte, err error) {
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(line) <= mcp.DefaultMaxLineLength {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// check says why a line is no message; nil: it is one.
func (r *messageReader) check(line []byte) *jsonrpc.Error {
	var batch []json.RawMessage
	switch {
	case len(line) >= mcp.DefaultMaxLineLength:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a message of more than %d bytes", mcp.DefaultMaxLineLength)}
	case !json.Valid(line):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "a line is not JSON"}
	case line[0] != '[':
		batch = []json.RawMessage{line}
	case !r.batches:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this version of MCP has no batches"}
	case json.Unmarshal(line, &batch) != nil || len(batch) == 0:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "an empty batch"}
	}
	for _, message := range batch {
		decoded, err := jsonrpc.DecodeMessage(message)
		if err != nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
		}
		r.note(decoded)
	}
	return nil
}

// note learns from the first request whether there may be batches.
func (r *messageReader) note(message jsonrpc.Message) {
	request, ok := message.(*jsonrpc.Request)
	if !ok || request.Method != "initialize" {
		return
	}
	var params struct{ ProtocolVersion string }
	r.batches = json.Unmarshal(request.Params, &params) == nil && params.ProtocolVersion <= "2025-03-26"
}

// refuse answers what has no id that could be known.
func (r *messageReader) refuse(reason *jsonrpc.Error) error {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": reason})
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(answer, '\n'))
	return err
}

type patientConn struct {
	mcp.Connection
	answered chan struct{} // holds a token when the last open request was answered

	mu   sync.Mutex // guards open
	open map[any]bool
}

func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil && req.IsCall() {
		c.mu.Lock()
		c.open[req.ID.Raw()] = true
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.await(ctx)
	}
	return msg, err
}

func (c *patientConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, resp.ID.Raw())
		none := len(c.open) == 0
		c.mu.Unlock()
		if none {
			select {
			case c.answered <- struct{}{}:
			default:
			}
		}
	}
	return err
}

// await waits until nothing is open any more, at most lastAnswers.
func (c *patientConn) await(ctx context.Context) {
	timer := time.NewTimer(lastAnswers)
	defer timer.Stop()
	for {
		c.mu.Lock()
		none := len(c.open) == 0
		c.mu.Unlock()
		if none {
			return
		}
		select {
		case <-c.answered:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
