package cdpproxy

import (
	"context"
	"net"
	"sync"
	"time"

	"browser-coordinator/cdpproxy/eventloop"
)

const (
	// frameGrace is how long a replaced browser may take to finish its current
	// frame, so that a close frame can follow.
	frameGrace = 60 * time.Millisecond
	// closeTimeout bounds the end of a relay: the client reads what is queued and
	// the close frame, and closes its own side.
	closeTimeout = 2 * time.Second
	// clientGrace is how long the browser waits for a client that does not keep up,
	// until it has been drained again. That costs no memory, as long as the
	// browser's output meanwhile stays far below the 256 MiB at which Chromium drops
	// messages without an error. See specs/platform-notes.md, "Chromium's DevTools
	// server".
	clientGrace = 250 * time.Millisecond
)

// lowWater is how many bytes of a large frame must be there before the relay wakes.
const lowWater = 512 << 10

// ending is why a relay ends, and the close frame for its client. Code 0: no close
// frame, the client has gone.
type ending struct {
	code   uint16
	reason string
}

// relay is one client and its browser. The event loop calls it with the bytes of
// both connections, which end together: Chromium ends a connection that is half
// open. See specs/platform-notes.md, "Chromium's DevTools server".
//
// Its life:
//
//	connecting  the client has no response yet, or the loop not yet its connections
//	open        bytes pass
//	finishing   it ends; the browser may complete its frame, for frameGrace
//	closing     the browser's connection is closed; the client gets what is queued
//	            and a close frame, and closes its own side, for closeTimeout
//	closed      both connections are closed
//
// It passes through them in this order, and may skip any. A client that has gone
// closes it at once.
type relay struct {
	proxy   *Proxy
	browser *Browser
	who     *Client
	gate    *gate
	ctx     context.Context // ends with the first reason to end
	cancel  context.CancelFunc

	mu       sync.Mutex // guards the fields that follow, and down; nothing blocks under it
	state    state
	why      *ending // the first reason to end; nil until then
	down     downstream
	upstream eventloop.Conn
	unsent   []outgoing // what the browser has not accepted; the client's bytes wait

	deadline time.Time // of the state, or of the browser's pause
	timer    *time.Timer
	pause    pause
}

// pause is how the browser waits for a client that does not keep up.
type pause struct {
	since time.Time     // zero: the browser does not wait
	total time.Duration // of the pauses since the browser was last drained
}

func (p *pause) allowed() bool { return !p.isOn() && p.total < clientGrace }

func (p *pause) isOn() bool { return !p.since.IsZero() }

func (p *pause) end() {
	p.total += time.Since(p.since)
	p.since = time.Time{}
}

type state int

const (
	connecting state = iota
	open
	finishing
	closing
	closed
)

// outgoing is a client's bytes on their way to the browser.
type outgoing struct {
	bytes   []byte
	message *message // whose frames they are; nil: they are a copy
}

// start begins to relay, after the client has its response. It takes over both
// connections. fromClient and fromBrowser came with the handshakes.
func (r *relay) start(client, upstream *net.TCPConn, fromClient, fromBrowser []byte) {
	r.down.init(r)
	r.gate = newGate(r, r.proxy.opts.Rule)
	r.gate.rule.Joined(r.who, r.disconnect)
	r.open(client, upstream)
	if len(fromBrowser) > 0 {
		browserSide{r}.Received(fromBrowser, nil)
	}
	if len(fromClient) > 0 {
		clientSide{r}.Received(fromClient, nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == open || r.state == finishing {
		r.upstream.Read(!r.pause.isOn())
	}
	if r.state != closed {
		r.down.client.Read(len(r.unsent) == 0)
	}
}

// open hands the connections to the loop, and ends the relay if there was a reason
// meanwhile.
func (r *relay) open(client, upstream *net.TCPConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.down.client, err = r.proxy.relays.loop.Add(client, clientSide{r}); err == nil {
		if r.upstream, err = r.proxy.relays.loop.Add(upstream, browserSide{r}); err != nil {
			r.down.client.Close()
		}
	}
	if err != nil {
		r.proxy.opts.Logger.Error("cannot relay", "client", r.who.Number, "error", err)
		client.Close()
		upstream.Close()
		r.state = closed
		r.because(ending{})
		r.proxy.relays.finish(r)
		return
	}
	r.state = open
	if r.why != nil {
		r.leave()
	}
}

// end begins the relay's end; the first reason wins.
func (r *relay) end(e ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLocked(e)
}

func (r *relay) endLocked(e ending) {
	if r.because(e) && r.state == open {
		r.leave()
	}
}

// because records the first reason to end.
func (r *relay) because(e ending) bool {
	if r.why != nil {
		return false
	}
	r.why = &e
	r.cancel()
	return true
}

// leave leaves the state open.
func (r *relay) leave() {
	switch {
	case r.why.code == 0:
		r.close()
	case r.down.frames.between():
		r.closeClient()
	default:
		r.state = finishing
		r.resumeBrowser()
		r.expire(frameGrace)
	}
}

// closeClient begins the state closing.
func (r *relay) closeClient() {
	r.state = closing
	r.upstream.Close()
	r.freeUnsent()
	r.down.client.Read(true)
	r.expire(r.proxy.limits.closeTimeout)
	r.down.close(*r.why)
	r.flushClient()
}

// close begins the state closed.
func (r *relay) close() {
	if r.state == closed {
		return
	}
	r.state = closed
	if r.timer != nil {
		r.timer.Stop()
	}
	r.down.client.Close()
	r.upstream.Close()
	r.down.drop()
	r.freeUnsent()
	r.proxy.relays.finish(r)
}

func (r *relay) freeUnsent() {
	for _, o := range r.unsent {
		o.free()
	}
	r.unsent = nil
}

// cut ends the relay at once, without a close frame.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.because(ending{})
	if r.state != connecting {
		r.close()
	}
}

// expire makes timeUp run after d.
func (r *relay) expire(d time.Duration) {
	r.deadline = time.Now().Add(d)
	if r.timer == nil {
		r.timer = time.AfterFunc(d, r.timeUp)
	} else {
		r.timer.Reset(d)
	}
}

func (r *relay) timeUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.deadline) {
		return // of another state
	}
	switch r.state {
	case open:
		r.resumeBrowser()
	case finishing:
		r.closeClient()
	case closing:
		r.close()
	}
}

// finish is the last step of a relay.
func (r *relay) finish() {
	r.gate.reader.claim.close()
	r.gate.rule.Left(r.who)
	r.proxy.opts.Logger.Debug("cdp client left", "client", r.who.Number, "browser", r.browser.Name, "code", r.why.code, "reason", r.why.reason)
}

// endIfReplaced ends the relay if its browser is not now, the source's current one
// (nil: none), and reports whether it did.
func (r *relay) endIfReplaced(now *Browser) bool {
	switch {
	case now == nil:
		r.end(ending{code: closeGoingAway, reason: r.browser.label() + " has ended; connect again to be given the next one"})
	case now.Generation != r.browser.Generation:
		r.end(ending{code: closeServiceRestart, reason: r.browser.label() + " was replaced by " + now.label() + "; connect again"})
	default:
		return false
	}
	return true
}

// disconnect ends the relay for the embedding program.
func (r *relay) disconnect(reason string) { r.end(ending{code: closePolicy, reason: reason}) }

// ended reports whether there is a reason to end.
func (r *relay) ended() bool { return r.ctx.Err() != nil }
