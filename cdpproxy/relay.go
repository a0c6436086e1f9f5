package cdpproxy

import (
	"bytes"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
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
)

// ending is why a relay ends, and the close frame for its client. Code 0: no close
// frame, the client has gone.
type ending struct {
	code   uint16
	reason string
}

// relay is one client and its browser. Either the loop moves its bytes, or two
// goroutines pump them; one of these is the caller of run. Both connections end
// together, since Chromium ends a connection that is half open. See
// specs/platform-notes.md, "Chromium's DevTools server".
type relay struct {
	proxy   *Proxy
	browser *Browser
	who     *Client
	noClose bool // the client cannot read close frames

	// Nil while the loop has the relay. A writer holds all of upMu, down's lock and
	// mu.
	upstream, client *net.TCPConn

	down           *downstream // set by start
	gate           *gate       // set by start; nil without a rule
	upstreamClosed bool        // the browser accepts no further bytes
	large          atomic.Bool // the client is sending a large message
	lowWater       int         // bytes of the browser that the relay waits for; 0: the default

	// For the status page. Messages of the client are counted only with a rule.
	bytesUp, bytesDown, messagesUp, messagesDown atomic.Uint64

	// Bytes that came with a handshake, forwarded first.
	fromClient, fromBrowser []byte

	over   chan struct{} // closed with the first reason to end
	upDone chan struct{} // closed when pumpUp has returned

	upMu   sync.Mutex // serialises writes to upstream if there is a rule
	unsent []byte     // guarded by upMu: bytes that the browser did not take at once

	mu     sync.Mutex     // guards the fields that follow
	parked eventloop.Pair // nil while the loop does not have the relay
	why    *ending        // the first reason to end; nil while the relay runs
	isCut  bool
}

// end starts the relay's end; the first reason wins. It only wakes pumpDown or the
// loop, which do the rest.
func (r *relay) end(e ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil {
		return
	}
	r.why = &e
	close(r.over)
	if r.parked != nil {
		r.parked.Unpark()
		return
	}
	r.upstream.SetDeadline(time.Unix(1, 0))
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

// evict ends the relay to free memory for another one.
func (r *relay) evict(reason string) { r.end(ending{code: closeTryLater, reason: reason}) }

// handOff unparks the relay before a step that would delay other relays of the
// loop.
func (r *relay) handOff() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parked != nil {
		r.parked.Unpark()
	}
}

// ended reports whether there is a reason to end.
func (r *relay) ended() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

func (r *relay) reason() *ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// attach gives the relay its client, or closes the client if the relay was cut
// meanwhile.
func (r *relay) attach(client *net.TCPConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client = client
	if r.isCut {
		client.Close()
	}
}

// cut ends the relay at once, without a close frame.
func (r *relay) cut() {
	r.end(ending{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isCut = true
	if r.client != nil {
		r.client.Close()
	}
	if r.upstream != nil {
		r.upstream.Close()
	}
}

// start begins to relay, after the client has its response.
func (r *relay) start() {
	r.down = &downstream{
		messages:  &r.messagesDown,
		out:       &sender{limit: r.proxy.opts.MaxBuffered, claim: claim{budget: r.proxy.limits.memory, evict: r.evict}},
		tapReader: tapReader{taps: &r.proxy.taps, client: r.who, limits: &r.proxy.limits},
		noClose:   r.noClose,
	}
	if rule := r.proxy.opts.Rule; rule != nil {
		r.down.attached = new(attached)
		r.gate = newGate(r, rule)
	}
	if watcher := r.proxy.opts.Watcher; watcher != nil {
		watcher.Joined(r.who, r.disconnect)
	}
	if err := r.down.out.use(r.client); err != nil {
		r.cut()
	}
	if len(r.fromClient) > 0 || len(r.fromBrowser) > 0 || !r.park() {
		go r.run()
	}
}

// park hands the relay to the loop, if there is one, and reports whether the loop
// took it. Then none of the relay's goroutines runs.
func (r *relay) park() bool {
	if r.proxy.loop == nil {
		return false
	}
	r.upMu.Lock()
	defer r.upMu.Unlock()
	r.down.mu.Lock()
	defer r.down.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil || len(r.unsent) > 0 || !r.down.out.idle() {
		return false
	}
	pair, err := r.proxy.loop.Park(r.client, r.upstream, r)
	if err != nil {
		return false
	}
	r.client, r.upstream, r.parked = nil, nil, pair
	r.down.out.direct(pair)
	return true
}

// Received implements eventloop.Handler.
func (r *relay) Received(from eventloop.Side, data []byte, err error) (lowWater int) {
	switch {
	case from == eventloop.Client && err != nil:
		r.end(ending{})
	case from == eventloop.Client:
		r.forwardUp(data)
	case err != nil:
		r.end(r.upstreamLost())
	default:
		r.forwardDown(data, true, false)
		if bytes, other := r.nextLowWater(); other {
			return bytes
		}
	}
	return 0
}

// Unparked implements eventloop.Handler.
func (r *relay) Unparked() {
	if r.resume() {
		go r.run()
	} else {
		r.finish()
	}
}

// resume takes the connections back from the loop. It does not wait: the loop has
// other relays to unpark. It reports whether there is a client left to relay for.
func (r *relay) resume() bool {
	r.upMu.Lock()
	defer r.upMu.Unlock()
	r.down.mu.Lock()
	defer r.down.mu.Unlock()
	r.mu.Lock()
	gone := r.isCut || r.why != nil && r.why.code == 0
	client, upstream, err := r.parked.Take(!gone)
	r.client, r.upstream, r.parked = client, upstream, nil
	if gone = gone || err != nil; !gone {
		client.SetKeepAliveConfig(keepAlive)
		upstream.SetKeepAliveConfig(keepAlive)
		if r.why != nil {
			upstream.SetDeadline(time.Unix(1, 0))
		}
	}
	r.mu.Unlock()
	if err != nil {
		r.proxy.log.Error("a connection is lost", "client", r.who.Number, "error", err)
	}
	r.sent(r.down.resume(client)) // a write to a closed one fails
	return !gone
}

// run relays until either side ends. It returns when nothing of the relay is left,
// or the loop has it.
func (r *relay) run() {
	for r.pump() { // again if the relay ended before the loop took it
		if r.park() {
			return
		}
	}
	r.finish()
}

// finish is the last step of a relay.
func (r *relay) finish() {
	if r.gate != nil {
		r.gate.wg.Wait()
	}
	r.client.Close()
	r.upstream.Close()
	r.down.tapReader.drop()
	r.down.out.claim.close()
	if r.gate != nil {
		r.gate.reader.claim.close()
	}
	if watcher := r.proxy.opts.Watcher; watcher != nil {
		watcher.Left(r.who)
	}
	why := r.reason()
	r.proxy.log.Debug("cdp client left", "client", r.who.Number, "browser", r.browser.Name, "code", why.code, "reason", why.reason)
	r.proxy.remove(r)
}

// pump relays with goroutines. It reports whether the client keeps up, so that the
// loop can take over. Otherwise the relay has ended.
func (r *relay) pump() (keepsUp bool) {
	r.upDone = make(chan struct{})
	go r.pumpUp()
	keepsUp = r.pumpDown()
	if keepsUp {
		r.client.SetReadDeadline(time.Unix(1, 0))
		r.upstream.SetWriteDeadline(time.Unix(1, 0))
	}
	<-r.upDone
	if keepsUp {
		r.client.SetReadDeadline(time.Time{})
		r.upstream.SetWriteDeadline(time.Time{})
	}
	return keepsUp
}

// upstreamLost is the ending when the browser closes the connection.
func (r *relay) upstreamLost() ending {
	return ending{code: closeGoingAway, reason: r.browser.label() + " closed this connection: it ended, or the page did"}
}

// forwardUp forwards a client's bytes to the browser, through the rule if there is
// one.
func (r *relay) forwardUp(data []byte) {
	r.bytesUp.Add(uint64(len(data)))
	if r.upstreamClosed {
		return
	}
	if r.gate != nil {
		r.upstreamClosed = r.gate.feed(data) != nil
		large := r.gate.reader.large()
		if r.large.Store(large); large {
			r.handOff()
		}
	} else {
		r.upstreamClosed = r.write(data) != nil
	}
}

// forwardDown forwards the browser's bytes to the client, and reports whether it can
// continue.
func (r *relay) forwardDown(data []byte, drained, last bool) bool {
	r.bytesDown.Add(uint64(len(data)))
	data, closes := r.down.withoutClose(data)
	goesOn := r.sent(r.down.relay(data, drained, last))
	if closes {
		r.end(r.upstreamLost())
	}
	return goesOn && !closes
}

// errEnded: there is no one left to write to.
var errEnded = errors.New("the relay has ended")

// write sends a client's bytes to the browser. A slow browser makes the client
// wait.
func (r *relay) write(b []byte) error {
	r.upMu.Lock()
	defer r.upMu.Unlock()
	if r.ended() {
		return errEnded
	}
	if r.upstream == nil {
		return r.writeParked(b)
	}
	if len(r.unsent) > 0 {
		b, r.unsent = append(r.unsent, b...), nil
	}
	n, err := r.upstream.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) { // by pump, which must continue
		r.unsent = bytes.Clone(b[n:])
		return nil
	}
	return err
}

// writeParked writes what the browser takes at once. If bytes are left, it unparks
// the relay. upMu is held.
func (r *relay) writeParked(b []byte) error {
	if len(r.unsent) == 0 {
		n, err := r.parked.Write(eventloop.Upstream, b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if len(b) > 0 {
		r.unsent = append(r.unsent, b...)
		r.parked.Unpark()
	}
	return nil
}

// pumpUp forwards a client's bytes to the browser. Once the relay has ended it only
// reads, until the client has closed its side: a close with unread bytes would
// reset the connection and could destroy the close frame on its way.
func (r *relay) pumpUp() {
	defer close(r.upDone)
	in, err := newReader(r.client)
	if err != nil {
		r.end(ending{})
		return
	}
	// If the browser accepts no bytes, pumpDown will see its end.
	r.upstreamClosed = r.upstreamClosed || r.write(nil) != nil // the unsent bytes
	if len(r.fromClient) > 0 {
		first := r.fromClient
		r.fromClient = nil
		r.forwardUp(first)
	}
	for {
		buf, data, err := in.read()
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) { // by pump, or at the end
				r.end(ending{})
			}
			return
		}
		r.forwardUp(data)
		buf.free()
	}
}

// keepUpReads is how many pieces of the browser in a row a client must take at once
// before its relay goes to the loop.
const keepUpReads = 16

// pumpDown forwards the browser's bytes to the client and always drains the
// browser. At the end it closes the client's connection. It returns true, with the
// connection open, when the loop can take over.
func (r *relay) pumpDown() (keepsUp bool) {
	in, err := newReader(r.upstream)
	if err != nil {
		r.cut()
		return false
	}
	if len(r.fromBrowser) > 0 {
		first := r.fromBrowser
		r.fromBrowser = nil
		r.forwardDown(first, true, false)
	}
	r.sent(r.down.catchUp())
	leaving := false // only until the browser's frame is complete
	for !leaving || !r.down.between() {
		buf, data, err := in.read()
		if err != nil {
			if why := r.reason(); why == nil {
				r.end(r.upstreamLost())
			} else if !leaving && why.code != 0 && errors.Is(err, os.ErrDeadlineExceeded) {
				leaving = true
				r.upstream.SetReadDeadline(time.Now().Add(frameGrace))
				continue
			}
			break
		}
		goesOn := r.forwardDown(data, len(data) < len(buf.b), leaving)
		buf.free()
		if bytes, other := r.nextLowWater(); other {
			in.wake(bytes)
		}
		if !goesOn {
			break
		}
		if r.proxy.loop != nil && r.down.keptUp() >= keepUpReads && !r.large.Load() && !r.ended() {
			return true
		}
	}
	r.upstream.Close()
	r.closeClient()
	return false
}

// sent ends the relay if a write to its client has failed.
func (r *relay) sent(err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, errTooSlow):
		r.end(ending{code: closePolicy, reason: "this client reads too slowly: the endpoint keeps no more for it, and drops nothing silently"})
	default:
		r.end(ending{})
	}
	return false
}

func (r *relay) closeClient() {
	why := r.reason()
	deadline := time.Now().Add(r.proxy.limits.closeTimeout)
	if why.code == 0 || !r.down.close(*why, deadline) {
		r.client.Close()
		r.down.out.wait(deadline)
		return
	}
	r.client.CloseWrite()
	r.client.SetReadDeadline(deadline)
}
