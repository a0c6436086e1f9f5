package vscodeipc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// serverConn is one client of a window.
type serverConn struct {
	server *Server
	conn   net.Conn
	out    *outbox
	gone   chan struct{}   // closed when the client has disconnected
	ctx    context.Context // of the client's calls
	cancel context.CancelFunc
	client Peer // from its hello; used by the read loop only

	listening map[string]int // the version of each subscribed event; guarded by Server.mu

	// mu guards the fields that follow.
	mu       sync.Mutex
	inFlight map[id]context.CancelFunc
	idle     chan struct{} // if set, closed as soon as no call is in flight
}

func newServerConn(s *Server, conn net.Conn) *serverConn {
	c := &serverConn{
		server: s, conn: conn, out: newOutbox(conn), gone: make(chan struct{}),
		listening: map[string]int{}, inFlight: map[id]context.CancelFunc{},
	}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// writeLoop is owned by the server. It ends the connection when the client has
// disconnected or the last line is written.
func (c *serverConn) writeLoop() {
	defer c.server.owned.Done()
	c.out.drain(c.gone)
	c.conn.Close() // ends the read loop
}

// readLoop is owned by the server. It ends with the connection, and ends the client's
// calls and subscriptions.
func (c *serverConn) readLoop() {
	defer c.server.owned.Done()
	switch err := c.readLines(); {
	case errors.Is(err, errTooLarge):
		c.out.send(encodeAnswer(noID, nil, errorf(CodeTooLarge, nil, "%v", err)))
		c.out.finish(CodeTooLarge, err.Error())
	case errors.Is(err, io.EOF):
		// The client may have closed only its sending side (spec 4): it gets its
		// responses.
		c.awaitCalls()
		c.out.end()
	default:
		close(c.gone)
	}
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

// awaitCalls waits goodbyeTime for the calls in flight.
func (c *serverConn) awaitCalls() {
	c.mu.Lock()
	if len(c.inFlight) == 0 {
		c.mu.Unlock()
		return
	}
	c.idle = make(chan struct{})
	c.mu.Unlock()
	timeout := time.NewTimer(goodbyeTime)
	defer timeout.Stop()
	select {
	case <-c.idle:
	case <-timeout.C:
	case <-c.ctx.Done():
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

// requestTypes are the requests of spec 5, as unknown_type lists them.
var requestTypes = []string{"hello", "ping", "state", "listen", "unlisten", "call", "cancel"}

func (c *serverConn) route(r request) *Error {
	if !slices.Contains(requestTypes, r.kind) {
		return errorf(CodeUnknownType, map[string]any{"types": requestTypes}, "there is no request %q", r.kind)
	}
	if fault := c.room(r); fault != nil {
		return fault
	}
	p, fault := r.payloadObject()
	if fault != nil {
		return fault
	}
	switch r.kind {
	case "hello":
		return c.hello(r.id, p)
	case "ping":
		c.answer(r.id, done)
	case "state":
		c.answer(r.id, c.server.stateAnswer(r.version))
	case "listen":
		l, fault := decodeListen(p)
		if fault != nil {
			return fault
		}
		return c.server.listen(c, r, l)
	case "unlisten":
		events, fault := decodeEvents(p)
		if fault == nil {
			fault = c.server.unlisten(c, events)
		}
		if fault != nil {
			return fault
		}
		c.answer(r.id, done)
	case "call":
		return c.call(r.id, p)
	case "cancel":
		which, fault := decodeCancel(p)
		if fault != nil {
			return fault
		}
		c.answer(r.id, cancelAnswer{c.cancelCall(which)})
	}
	return nil
}

func (c *serverConn) answer(to id, payload any) { c.out.send(encodeAnswer(to, payload, nil)) }

func (c *serverConn) room(r request) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.inFlight[r.id]; taken {
		return errorf(CodeDuplicateID, nil, "the id %v is in flight already", r.id)
	}
	if len(c.inFlight) >= maxInFlight && r.kind != "cancel" {
		return errorf(CodeTooMany, nil, "%d requests are in flight on this connection", maxInFlight)
	}
	return nil
}

func (c *serverConn) hello(to id, p object) *Error {
	h, fault := decodeHello(p)
	if fault != nil {
		return fault
	}
	for _, version := range supported {
		if slices.Contains(h.Versions, version) {
			c.client = h.Client
			c.answer(to, c.server.helloAnswer(version))
			return nil
		}
	}
	return errUnsupported("none of the versions %v is supported", h.Versions)
}

func (c *serverConn) call(to id, p object) *Error {
	request, fault := decodeCall(p)
	if fault != nil {
		return fault
	}
	handler, ok := c.server.options.Commands[request.Command]
	if !ok {
		return errorf(CodeUnknownCommand, map[string]any{"offered": c.server.hello.Commands}, "the command %q is not offered", request.Command)
	}
	ctx, cancel := c.bounded(request.Command)
	c.mu.Lock()
	c.inFlight[to] = cancel
	c.mu.Unlock()
	c.server.owned.Add(1)
	call := Call{request.Command, slices.Clone(request.Arg), c.client}
	go c.runCall(ctx, to, handler, call)
	return nil
}

// bounded is the context of a call. Only calls that wait for the user have no deadline.
func (c *serverConn) bounded(command string) (context.Context, context.CancelFunc) {
	if slices.Contains(c.server.options.NoDeadline, command) {
		return context.WithCancel(c.ctx)
	}
	return context.WithTimeout(c.ctx, requestTime)
}

// cancelCall cancels a call and reports whether it was in flight.
func (c *serverConn) cancelCall(which id) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel, ok := c.inFlight[which]
	if ok {
		cancel()
	}
	return ok
}

// runCall is owned by the server. It sends one response: when the handler has ended, or
// when the call is cancelled, even if the handler continues.
func (c *serverConn) runCall(ctx context.Context, to id, handler Handler, call Call) {
	defer c.server.owned.Done()
	givenUp := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.settle(to, nil, callFault(ctx, ctx.Err()))
		close(givenUp)
	})
	result, err := c.runHandler(ctx, handler, call)
	if !stop() {
		<-givenUp
		return
	}
	var answer any
	if err == nil {
		answer, err = encodeResult(result)
	}
	c.settle(to, answer, callFault(ctx, err))
}

// settle responds to a call. It frees the id before it sends the response, so that the
// client may reuse the id at once.
func (c *serverConn) settle(to id, answer any, fault *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight[to]()
	delete(c.inFlight, to)
	c.out.send(encodeAnswer(to, answer, fault))
	if c.idle != nil && len(c.inFlight) == 0 {
		close(c.idle)
	}
}

func (c *serverConn) runHandler(ctx context.Context, handler Handler, call Call) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.server.log.Error("command failed", "command", call.Command, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("the command failed; see the window's log")
		}
	}()
	return handler(ctx, call)
}

func encodeResult(result any) (callAnswer, error) {
	raw, err := json.Marshal(result)
	if err != nil {
		return callAnswer{}, fmt.Errorf("encode the command's result: %w", err)
	}
	return callAnswer{raw}, nil
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
		return errorf(CodeDeadline, nil, "no answer within %v: %v", requestTime, err)
	case ctx.Err() != nil:
		return errorf(CodeCancelled, nil, "given up: %v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return errorf(CodeDeadline, nil, "%v", err)
	default:
		return errorf(CodeInternal, nil, "%v", err)
	}
}
