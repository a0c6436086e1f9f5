package vscodeipc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"sync"
	"time"
)

// serverConn is one client of a window.
type serverConn struct {
	server *Server
	conn   net.Conn
	out    *outbox
	ctx    context.Context // of the client's calls
	cancel context.CancelFunc

	listening bool // guarded by Server.mu

	// mu guards the fields that follow.
	mu       sync.Mutex
	inFlight map[id]context.CancelFunc
	settled  sync.WaitGroup // all of inFlight
}

func newServerConn(s *Server, conn net.Conn) *serverConn {
	c := &serverConn{
		server: s, conn: conn, out: newOutbox(conn, slowReader),
		inFlight: map[id]context.CancelFunc{},
	}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// writeLoop is owned by the server. It ends the connection when the last line is written
// or the client has disconnected.
func (c *serverConn) writeLoop() {
	defer c.server.owned.Done()
	c.out.drain()
	c.conn.Close() // ends the read loop
}

// readLoop is owned by the server. It ends with the connection, and ends the client's
// calls and subscriptions.
func (c *serverConn) readLoop() {
	defer c.server.owned.Done()
	switch err := c.readLines(); {
	case errors.Is(err, ErrTooLarge):
		c.out.send(encodeAnswer(noID, nil, errorf(codeTooLarge, nil, "%v", err)))
		c.out.finish(encodeBye(codeTooLarge, err.Error()))
	case errors.Is(err, io.EOF):
		// The client may have closed only its sending side (spec 4): it gets its
		// responses.
		timeout := time.AfterFunc(goodbyeTime, c.cancel)
		c.settled.Wait()
		timeout.Stop()
	}
	c.out.finish(nil)
	c.server.forget(c)
	c.cancel()
}

func (c *serverConn) readLines() error {
	lines := newLineReader(c.conn)
	for {
		line, err := lines.next()
		if err != nil {
			return err
		}
		c.handle(line)
	}
}

// handle makes the checks in the order of spec 6 and responds. After the last line to a
// client it ignores further requests, since they would get no response.
func (c *serverConn) handle(line []byte) {
	if c.out.ending() {
		return
	}
	r, fault := decodeRequest(line)
	if fault == nil {
		fault = c.route(r)
	}
	if fault != nil {
		c.out.send(encodeAnswer(r.id, nil, fault))
	}
}

func (c *serverConn) answer(r request, payload any) {
	c.out.send(encodeAnswer(r.id, payload, nil))
}

// requestTypes are the requests of spec 5, as unknown_type lists them.
var requestTypes = []string{"hello", "ping", "state", "listen", "call", "cancel"}

func (c *serverConn) route(r request) *Error {
	if !slices.Contains(requestTypes, r.kind) {
		return errorf(codeUnknownType, map[string]any{"types": requestTypes}, "there is no request %q", r.kind)
	}
	if fault := c.room(r); fault != nil {
		return fault
	}
	switch r.kind {
	case "hello":
		return handleDecoded(r, c.hello)
	case "state":
		return handleDecoded(r, c.state)
	case "listen":
		return handleDecoded(r, c.listen)
	case "call":
		return handleDecoded(r, c.call)
	case "cancel":
		return handleDecoded(r, c.cancelCall)
	default:
		return handleDecoded(r, c.ping)
	}
}

// handleDecoded handles a request after it has decoded the payload.
func handleDecoded[T any](r request, handle func(request, T) *Error) *Error {
	var payload T
	if fault := decodeValue(r.payload, reflect.ValueOf(&payload).Elem(), "/payload", anyLength); fault != nil {
		return fault
	}
	return handle(r, payload)
}

func (c *serverConn) room(r request) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.inFlight[r.id]; taken {
		return errorf(codeDuplicateID, nil, "the id %v is in flight already", r.id)
	}
	if len(c.inFlight) >= maxInFlight && r.kind != "cancel" {
		return errorf(codeTooMany, nil, "%d requests are in flight on this connection", maxInFlight)
	}
	return nil
}

func (c *serverConn) hello(r request, _ helloRequest) *Error {
	c.answer(r, c.server.helloAnswer())
	return nil
}

func (c *serverConn) ping(r request, _ struct{}) *Error {
	c.answer(r, noPayload)
	return nil
}

func (c *serverConn) state(r request, _ struct{}) *Error {
	c.answer(r, c.server.stateAnswer())
	return nil
}

func (c *serverConn) listen(r request, l listenRequest) *Error {
	for _, event := range l.Events {
		if event != "state" { // a window of this package has no other
			return errorf(codeUnknownEvent, map[string]any{"offered": c.server.hello.Events},
				"the event %q is not offered", event)
		}
	}
	c.server.listen(c, r)
	return nil
}

func (c *serverConn) call(r request, p callRequest) *Error {
	handler, ok := c.server.options.Commands[p.Command]
	if !ok {
		return errorf(CodeUnknownCommand, map[string]any{"offered": c.server.hello.Commands},
			"the command %q is not offered", p.Command)
	}
	ctx, cancel := c.bounded(p.Command)
	c.mu.Lock()
	c.inFlight[r.id] = cancel
	c.mu.Unlock()
	c.settled.Add(1)
	c.server.owned.Add(1)
	go c.runCall(ctx, r, handler, Call{p.Command, p.Arg, c.ctx})
	return nil
}

// bounded is the context of a call. Only calls that wait for the user have no deadline.
func (c *serverConn) bounded(command string) (context.Context, context.CancelFunc) {
	if slices.Contains(c.server.options.NoDeadline, command) {
		return context.WithCancel(c.ctx)
	}
	return context.WithTimeout(c.ctx, requestTime)
}

// cancelCall responds whether the call was in flight.
func (c *serverConn) cancelCall(r request, p cancelRequest) *Error {
	c.mu.Lock()
	cancel, ok := c.inFlight[p.ID]
	if ok {
		cancel()
	}
	c.mu.Unlock()
	c.answer(r, cancelAnswer{ok})
	return nil
}

// runCall is owned by the server. It sends one response: when the handler has ended, or
// when the call is cancelled, even if the handler continues.
func (c *serverConn) runCall(ctx context.Context, r request, handler Handler, call Call) {
	defer c.server.owned.Done()
	givenUp := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.settle(r, nil, callFault(ctx, ctx.Err()))
		close(givenUp)
	})
	result, err := handler(ctx, call)
	if !stop() {
		<-givenUp
		return
	}
	var raw json.RawMessage
	if err == nil {
		raw, err = json.Marshal(result)
	}
	c.settle(r, callAnswer{raw}, callFault(ctx, err))
}

// settle responds to a call. It frees the id before it sends the response, so that the
// client may reuse the id at once.
func (c *serverConn) settle(r request, answer any, fault *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight[r.id]()
	delete(c.inFlight, r.id)
	c.out.send(encodeAnswer(r.id, answer, fault))
	c.settled.Done()
}

// callFault converts a handler's error to the code that the client sees.
func callFault(ctx context.Context, err error) *Error {
	var chosen *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &chosen):
		return chosen
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errorf(codeDeadline, nil, "no answer within %v", requestTime)
	case ctx.Err() != nil:
		return errorf(codeCancelled, nil, "given up: %v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return errorf(codeDeadline, nil, "%v", err)
	default:
		return errorf(codeInternal, nil, "%v", err)
	}
}
