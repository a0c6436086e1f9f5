package launch

import (
	"context"

	"browser-coordinator/cdpproxy/browser"
)

// Connection is a Browser that runs elsewhere, behind a connection that ends once, with a
// reason.
type Connection struct {
	Address string          // see Browser.URL
	Browser browser.Browser // see Browser.InProcess
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

// NewConnection returns one that has just begun. Its Address and Browser are set before others
// use it.
func NewConnection() Connection {
	var c Connection
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// Context ends when the connection begins to end.
func (c *Connection) Context() context.Context { return c.ctx }

// Finish ends the connection with the reason, or nil: this process ends it in good order. Only
// the first call has an effect.
func (c *Connection) Finish(reason error) { c.cancel(reason) }

// URL implements Browser.
func (c *Connection) URL() string { return c.Address }

// InProcess implements Browser.
func (c *Connection) InProcess() browser.Browser { return c.Browser }

// Downloads implements Browser: they are not this program's.
func (c *Connection) Downloads() string { return "" }

// Proxy implements Browser: it is not known.
func (c *Connection) Proxy(string) string { return "" }

// Done implements Browser.
func (c *Connection) Done() <-chan struct{} { return c.ctx.Done() }

// Err implements Browser.
func (c *Connection) Err() error {
	if reason := context.Cause(c.ctx); reason != context.Canceled {
		return reason
	}
	return nil
}
