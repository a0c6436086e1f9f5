package cdpproxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/capture"
	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/internal/queue"
	"browser-coordinator/policy"
)

const (
	// frameGrace is how long a replaced browser may take to finish its current
	// frame, so that a close frame can follow.
	frameGrace = 60 * time.Millisecond
	// smallBuffer is for a connection that is idle or has few data, largeBuffer for
	// one that has more. The former are kept, the latter shared.
	smallBuffer, largeBuffer = 2 << 10, 256 << 10
)

// ending is why a relay ends, and the close frame for its client. Code 0: no close
// frame, the client has gone.
type ending struct {
	code   uint16
	reason string
}

func (e ending) Error() string { return e.reason }

// relay is one client with its connection to the browser. It has two goroutines:
//
//	read  reads the client: its messages are judged, and sent to the browser
//	run   sends what the browser sends to the client, and ends the relay
//
// While the client of a dialed browser is behind, a third one sends what waits for it
// (downstream.flush). Both connections end together: Chromium ends a connection that is half
// open. See specs/platform-notes.md, "Chromium's DevTools server".
type relay struct {
	proxy      *Proxy
	client     *Client
	ctx        context.Context // ends with the first reason to end
	cancel     context.CancelFunc
	socket     *net.TCPConn
	downstream downstream
	noClose    bool            // the client cannot read close frames
	reader     messageReader   // of the client's stream
	clientLeft chan struct{}   // closed when the client has closed its side
	captures   *capture.Client // the connection to the browser
	dialed     *dialed         // the same, if the browser was dialed; else nil
	tapped     tapReader       // of its stream
	observed   messageEnds     // of its stream

	mu       sync.Mutex // guards the fields that follow until ctx ends
	reason   ending     // the first reason to end
	deadline time.Time  // for the client to read the rest
}

// newRelay connects a client to its browser, and returns their relay, which is registered.
// Nothing is written to the client before start.
func newRelay(
	ctx context.Context, p *Proxy, client *net.TCPConn, requester *Client, request *http.Request,
) (r *relay, err error) {
	memory, buffered, inProcess := p.limits.memory, p.limits.buffered, requester.browser.InProcess != nil
	r = &relay{proxy: p, client: requester, socket: client, clientLeft: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	requester.Done = r.ctx.Done()
	r.noClose = !readsCloseFrames(request.Header.Get("Sec-WebSocket-Key"))
	r.downstream = downstream{
		memory: memory, failed: func() { r.end(ending{}) }, byRun: inProcess, conn: client,
		ownFrames: queue.New(buffered, memory, cost), out: queue.New(buffered, memory, cost),
	}
	if !inProcess && canEndWrites {
		r.downstream.grace = clientGrace
	}
	r.reader = messageReader{memory: memory, onMessage: r.judge, onControl: r.control}
	r.tapped = tapReader{taps: &p.taps, client: requester, memory: memory}
	r.captures = capture.New(pageOf(requester.Path), !dial.IsOwn(request.Header), r.respond, p.opts.Logger)
	r.observed = messageEnds{each: r.captures.Receive}
	var conn browser.Conn
	if inProcess {
		conn, err = openInProcess(ctx, r)
	} else if r.dialed, err = p.dial(ctx, requester, request); err == nil {
		conn = r.dialed
	}
	r.captures.Connect(conn)
	if err == nil && !p.add(r) {
		r.captures.Close()
		err = errChanged
	}
	if err != nil {
		r.downstream.drop()
		return nil, err
	}
	return r, nil
}

// pageOf is the id of the page that the path of a client names; empty: it names the browser.
func pageOf(path string) string {
	if forBrowser(path) {
		return ""
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// abandon ends a registered relay that does not start.
func (r *relay) abandon() {
	r.captures.Close()
	r.downstream.drop()
	r.proxy.remove(r)
}

// start begins to relay, after the client has its response. It takes over the client's
// connection.
func (r *relay) start() {
	r.proxy.opts.Rule.Register(r.client, func(reason string) { r.end(ending{closePolicy, reason}) })
	go r.read()
	go r.run()
}

// end begins the relay's end; the first reason wins. It does not block.
func (r *relay) end(e ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended() {
		return
	}
	r.reason, r.deadline = e, time.Now().Add(r.proxy.limits.closeTimeout)
	if r.dialed != nil {
		r.dialed.conn.SetReadDeadline(time.Unix(1, 0)) // wakes run
	}
	r.cancel()
}

// fail ends the relay because of an error: one of the client's connection, unless it is an
// [ending].
func (r *relay) fail(err error) {
	var e ending
	errors.As(err, &e)
	r.end(e)
}

// ended reports whether there is a reason to end.
func (r *relay) ended() bool { return r.ctx.Err() != nil }

// replaced reports whether the relay must end because its browser is not now, the source's
// current one (nil: none), and how.
func (r *relay) replaced(now *Browser) (end ending, must bool) {
	b := r.client.browser
	switch {
	case now == nil:
		return ending{closeGoingAway, b.label() + " has ended; connect again to be given the next one"}, true
	case now.Generation != b.Generation:
		return ending{closeServiceRestart, b.label() + " was replaced by " + now.label() + "; connect again"}, true
	}
	return ending{}, false
}

// cut ends the relay at once, without a close frame.
func (r *relay) cut() {
	r.end(ending{})
	r.socket.Close()
}

func (r *relay) upstreamLost() {
	r.end(ending{closeGoingAway, r.client.browser.label() + " closed this connection: it ended, or the page did"})
}

// run is the goroutine that owns the relay's end.
func (r *relay) run() {
	if r.dialed != nil {
		r.relayBytes()
	} else {
		r.relayMessages()
	}
	<-r.ctx.Done()
	if r.reason.code == 0 {
		r.socket.Close()
		r.downstream.drop()
	}
	var frame []byte
	if !r.noClose {
		frame = closeFrame(r.reason.code, r.reason.reason)
	}
	r.downstream.close(frame, r.deadline)
	if r.captures.Leave(); r.dialed != nil {
		r.awaitCaptures()
	}
	r.captures.Close()
	r.downstream.finish()
	// A close with unread bytes would reset the connection, and could destroy the close
	// frame on its way: the client closes its side first.
	<-r.clientLeft
	r.socket.Close()
	r.tapped.drop()
	r.proxy.opts.Rule.Unregister(r.client)
	r.proxy.opts.Logger.Debug("cdp client left", "client", r.client.Number, "browser", r.client.Browser,
		"code", r.reason.code, "reason", r.reason.reason)
	r.proxy.limits.memory.Release()
	r.proxy.remove(r)
	r.proxy.served.Add(-1)
}

// buffers are for connections with much data.
var buffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}

// receive reads conn until an error, and calls each with the data, which is valid until
// that returns false or is called again. drained: less has come than there was room for.
func receive(conn net.Conn, each func(data []byte, drained bool, err error) bool) {
	small := make([]byte, smallBuffer)
	for drained, more := true, true; more; {
		buffer := small
		var large *[largeBuffer]byte
		if !drained {
			large = buffers.Get().(*[largeBuffer]byte)
			buffer = large[:]
		}
		n, err := conn.Read(buffer)
		drained = n < len(buffer)
		more = each(buffer[:n], drained, err)
		if large != nil {
			buffers.Put(large)
		}
	}
}

// read is the goroutine that reads the client. Once the relay has ended it ignores the
// bytes, until the client has closed its side.
func (r *relay) read() {
	defer close(r.clientLeft)
	defer r.reader.drop()
	receive(r.socket, func(data []byte, _ bool, err error) bool {
		r.fromClient(data)
		if err != nil {
			r.end(ending{})
		}
		return err == nil
	})
}

func (r *relay) fromClient(data []byte) {
	if r.ended() {
		return
	}
	if err := r.reader.feed(data); err != nil {
		r.fail(err)
	}
}

// errEnded: there is no one left to write to.
var errEnded = errors.New("the relay has ended")

// control handles a control frame of the client.
func (r *relay) control(op byte, payload []byte) error {
	switch {
	case r.ended():
		return errEnded
	case r.dialed != nil:
		r.dialed.write(op, payload)
	case op == opClose:
		r.end(ending{code: closeNormal})
	case op == opPing:
		r.insert(opPong, payload)
	}
	return nil
}

// judge lets the rule judge a message, and carries out its decision.
func (r *relay) judge(text []byte) error {
	if r.ended() {
		return errEnded
	}
	r.proxy.taps.record(r.client, FromClient, text)
	m, err := browser.ParseCommand(text)
	if err == nil && r.dialed == nil {
		err = m.Normalize()
	}
	if err != nil {
		r.respond(m.Response(nil, err))
		return nil
	}
	switch v := r.proxy.opts.Rule.Judge(r.client, &m); v.Outcome {
	case policy.Allow:
		now, _ := r.proxy.source.Browser()
		if end, must := r.replaced(now); must {
			r.end(end)
			return errEnded
		}
		if r.captures.Send(m) {
			r.proxy.opts.Rule.Observe(r.client, &m)
		}
	case policy.Ignore:
		r.respond(m.Response(v.Result, nil))
	case policy.Disconnect:
		r.respond(m.Response(nil, nil))
		r.end(ending{closeNormal, v.Reason})
	default:
		r.respond(m.Response(nil, errors.New(v.Reason)))
	}
	return nil
}

// respond responds to the client in place of the browser.
func (r *relay) respond(text []byte) {
	if r.proxy.taps.open() {
		r.proxy.taps.record(r.client, FromEndpoint, text)
	}
	r.insert(opText, text)
}

func (r *relay) insert(op byte, payload []byte) {
	if err := r.downstream.insert(op, payload); err != nil {
		r.fail(err)
	}
}

// Name implements [browser.Client].
func (r *relay) Name() string { return r.client.Name }

// Send implements [browser.Client].
func (r *relay) Send(message []byte) {
	r.captures.Receive(message, message)
	if r.ended() {
		return // nothing follows a message that was dropped, and the close frame is next
	}
	r.proxy.taps.record(r.client, FromBrowser, message)
	r.insert(opText, message)
}

// End implements [browser.Client].
func (r *relay) End(code uint16, reason string) {
	if code == 0 {
		r.captures.Lost()
		r.upstreamLost()
	} else {
		r.end(ending{code, reason})
	}
}

// relayMessages sends the messages of a browser in this process until the relay ends.
func (r *relay) relayMessages() {
	stop := context.AfterFunc(r.ctx, func() { r.socket.SetDeadline(r.deadline) })
	defer stop()
	for {
		select {
		case <-r.downstream.out.Ready():
			r.downstream.flush()
		case <-r.ctx.Done():
			return
		}
	}
}

// relayBytes forwards the bytes of a dialed browser until it or the relay ends. It returns
// between two frames, if the browser completes the last one soon.
func (r *relay) relayBytes() {
	r.toClient(r.dialed.greeting, false)
	r.dialed.greeting = nil
	receive(r.dialed.conn, func(data []byte, drained bool, err error) bool {
		r.toClient(data, drained)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // which is by end
			r.upstreamLost()
		}
		return err == nil && !r.ended()
	})
	<-r.ctx.Done()
	if r.downstream.frames.atBoundary() {
		return
	}
	r.dialed.conn.SetReadDeadline(time.Now().Add(frameGrace))
	receive(r.dialed.conn, func(data []byte, drained bool, err error) bool {
		r.toClient(data, drained)
		return err == nil && !r.downstream.frames.atBoundary()
	})
}

// awaitCaptures reads the responses to the captures of a client that has left.
func (r *relay) awaitCaptures() {
	if !r.captures.Running() {
		return
	}
	r.dialed.conn.SetReadDeadline(time.Now().Add(capture.LeaveTimeout))
	receive(r.dialed.conn, func(data []byte, _ bool, err error) bool {
		r.observed.feed(data)
		if err != nil {
			r.captures.Lost()
		}
		return r.captures.Running()
	})
}

// toClient forwards bytes of the browser; after the relay's end only those that complete
// a frame.
func (r *relay) toClient(data []byte, drained bool) {
	r.observed.feed(data)
	if r.noClose {
		if n := r.downstream.frames.beforeClose(data); n < len(data) { // of another coordinator's browser
			data = data[:n]
			defer r.upstreamLost()
		}
	}
	if len(data) == 0 {
		return
	}
	if err := r.downstream.room(len(data)); err != nil {
		r.fail(err)
	}
	if r.ended() {
		data = data[:r.downstream.frames.rest(data)]
	}
	r.tapped.observe(r.downstream.frames, data)
	if err := r.downstream.forward(data, drained); err != nil {
		r.fail(err)
	}
}
