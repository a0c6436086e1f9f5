// Package mcpstdio is the MCP SDK's stdio transport, made tolerant for scripts and
// imprecise hosts. A line that is no message gets an error, and the session continues.
// The end of the input waits for the responses.
package mcpstdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/notify"
)

// responseTimeout bounds how long the end of the input waits for responses: the program
// must end within 2 s.
const responseTimeout = time.Second

// Transport is the process's standard input and output. A malformed line gets an error;
// the SDK would end the session there. The session gets the end of the input only when
// every request has its response: a script may pipe its requests in and close.
type Transport struct{}

// Connect implements mcp.Transport.
func (t *Transport) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &lockedWriter{to: os.Stdout}
	transport := &mcp.IOTransport{Reader: &messageReader{in: bufio.NewReader(os.Stdin), out: out}, Writer: out}
	conn, err := transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: conn, open: map[any]bool{}}, nil
}

// lockedWriter writes whole messages, one after the other. The output stays open when the
// session ends: the process owns it.
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

// messageReader reads the lines that are messages, and responds to all others.
type messageReader struct {
	in   *bufio.Reader
	out  io.Writer
	line []byte // the unread rest of the last line
}

func (r *messageReader) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		line, err := r.next()
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			if invalid := check(trimmed); invalid == nil {
				r.line = append(trimmed, '\n')
			} else if writeErr := r.respond(invalid); writeErr != nil {
				return 0, writeErr
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

// Close leaves the input open, as the SDK does: the process owns it.
func (r *messageReader) Close() error { return nil }

// next returns the next line. Of a line above the limit it returns a part that exceeds
// the limit.
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

// check reports why a line is no message; nil: it is one.
func check(line []byte) *jsonrpc.Error {
	switch {
	case len(line) >= mcp.DefaultMaxLineLength:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("a message of more than %d bytes", mcp.DefaultMaxLineLength)}
	case !json.Valid(line):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "a line is not JSON"}
	case line[0] == '[':
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "MCP has no batches"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return nil
}

// respond sends an error for a line whose id is not known.
func (r *messageReader) respond(reason *jsonrpc.Error) error {
	response, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": reason})
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(response, '\n'))
	return err
}

// drainingConn reports the end of the input when no request is open, and keeps back the
// responses to requests that were cancelled: MCP forbids them.
type drainingConn struct {
	mcp.Connection

	mu      sync.Mutex       // guards the fields that follow
	open    map[any]bool     // requests without a response, by id; false: cancelled
	changed notify.Broadcast // of open
}

func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil {
		c.mu.Lock()
		if req.IsCall() {
			c.open[req.ID.Raw()] = true
		} else if id, cancels := cancelled(req); cancels && c.open[id] {
			c.open[id] = false
			c.changed.Notify()
		}
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.await(ctx)
	}
	return msg, err
}

// cancelled is the id of the request that a notification cancels.
func cancelled(req *jsonrpc.Request) (id any, cancels bool) {
	var params struct{ RequestID any }
	if req.Method != "notifications/cancelled" || json.Unmarshal(req.Params, &params) != nil {
		return nil, false
	}
	made, err := jsonrpc.MakeID(params.RequestID)
	return made.Raw(), err == nil
}

func (c *drainingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	c.mu.Lock()
	want, open := c.open[resp.ID.Raw()]
	c.mu.Unlock()
	var err error
	if want || !open {
		err = c.Connection.Write(ctx, msg)
	}
	c.mu.Lock()
	delete(c.open, resp.ID.Raw())
	c.changed.Notify()
	c.mu.Unlock()
	return err
}

// await waits until no request is open, at most responseTimeout.
func (c *drainingConn) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	for {
		c.mu.Lock()
		open, changed := slices.Contains(slices.Collect(maps.Values(c.open)), true), c.changed.Next()
		c.mu.Unlock()
		if !open {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
