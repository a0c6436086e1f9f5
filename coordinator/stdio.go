package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers bounds how long the end of the input waits for answers: everything
// has to be over within 2 s of it.
const lastAnswers = time.Second

// patientStdio is the SDK's stdio transport, but the end of the input is told
// only when what was asked has been answered: a script may pipe its requests in
// and close.
type patientStdio struct{ mcp.StdioTransport }

func (t *patientStdio) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.StdioTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConn{Connection: conn, open: map[any]bool{}, answered: make(chan struct{}, 1)}, nil
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
