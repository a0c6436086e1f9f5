package cdpproxy

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// frameGrace is how long a browser that is being left may take to finish
	// the frame that it is in the middle of, so that a close frame can follow.
	frameGrace = 60 * time.Millisecond
	// farewell bounds the rest of a relay's end: the client takes what is
	// queued for it, reads the close frame and closes its own side.
	farewell = 2 * time.Second
)

// ending says why a relay ends and what its client is told. Code 0: nothing,
// the client is gone.
type ending struct {
	code   uint16
	reason string
}

// relay is one client and its browser. Two goroutines pump, one of them the one
// that calls run; both legs end together, since a half-open CDP connection is
// of no use to anyone (facts 8).
type relay struct {
	proxy    *Proxy
	browser  *Browser
	upstream *net.TCPConn
	client   *net.TCPConn // set by attach, before run

	who  *Client
	down *downstream // set by run

	bytesUp, bytesDown atomic.Uint64

	// Bytes that came with a handshake, to be forwarded first.
	fromClient, fromBrowser []byte

	over   chan struct{} // closed with the first reason to end
	upDone chan struct{}

	upMu sync.Mutex // serialises writes to upstream where there is a rule

	mu    sync.Mutex // guards the fields that follow, and the setting of client
	why   *ending    // the first reason to end; nil while the relay runs
	isCut bool
}

// end starts the relay's end. It only wakes pumpDown, which does the rest; the
// first reason wins.
func (r *relay) end(e ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil {
		return
	}
	r.why = &e
	close(r.over)
	r.upstream.SetDeadline(time.Unix(1, 0))
}

// sendAway ends the relay on the embedding program's behalf.
func (r *relay) sendAway(reason string) { r.end(ending{code: closePolicy, reason: reason}) }

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

// attach gives the relay its client, and takes it away again if the relay was
// cut meanwhile.
func (r *relay) attach(client *net.TCPConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client = client
	if r.isCut {
		client.Close()
	}
}

// cut ends the relay at once, without a word to the client.
func (r *relay) cut() {
	r.end(ending{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isCut = true
	if r.client != nil {
		r.client.Close()
	}
	r.upstream.Close()
}

// run relays until either side ends, and returns when nothing of it is left.
func (r *relay) run() {
	defer r.proxy.remove(r)
	try, err := newTryWriter(r.client)
	if err != nil {
		r.cut()
		return
	}
	r.down = &downstream{
		out: &sender{conn: r.client, try: try, limit: r.proxy.opts.MaxBuffered},
		ear: listener{taps: &r.proxy.taps, client: r.who},
	}
	if watcher := r.proxy.opts.Watcher; watcher != nil {
		watcher.Joined(r.who, r.sendAway)
		defer watcher.Left(r.who)
	}
	go r.pumpUp()
	r.pumpDown()
	<-r.upDone
	r.client.Close()
	r.upstream.Close()
	why := r.reason()
	r.proxy.log.Debug("cdp client left", "client", r.who.Number, "browser", r.browser.Name, "code", why.code, "reason", why.reason)
}

// errEnded: there is nobody to write to any more.
var errEnded = errors.New("the relay has ended")

// write sends a client's bytes to the browser. A slow browser makes the client
// wait.
func (r *relay) write(b []byte) error {
	r.upMu.Lock()
	defer r.upMu.Unlock()
	if r.ended() {
		return errEnded
	}
	_, err := r.upstream.Write(b)
	return err
}

// pumpUp takes what the client says to the browser, by way of the rule if
// there is one. Once the relay has ended it only reads on, until the client has
// closed its side: closing with unread bytes would reset the connection and
// could destroy the close frame on its way.
func (r *relay) pumpUp() {
	defer close(r.upDone)
	forward := r.write
	if rule := r.proxy.opts.Rule; rule != nil {
		gate := newGate(r, rule)
		defer gate.wg.Wait()
		forward = gate.feed
	}
	in, err := newReader(r.client)
	if err != nil {
		r.end(ending{})
		return
	}
	// When the browser takes no more, pumpDown will see its end.
	deaf := false
	if len(r.fromClient) > 0 {
		deaf = forward(r.fromClient) != nil
		r.fromClient = nil
	}
	for {
		buf, data, err := in.read()
		if err != nil {
			r.end(ending{})
			return
		}
		r.bytesUp.Add(uint64(len(data)))
		deaf = deaf || forward(data) != nil
		buf.free()
	}
}

// pumpDown takes what the browser says to the client, always draining the
// browser, and at the end says goodbye to the client.
func (r *relay) pumpDown() {
	in, err := newReader(r.upstream)
	if err != nil {
		r.cut()
		return
	}
	if len(r.fromBrowser) > 0 {
		r.sent(r.down.relay(r.fromBrowser, true, false))
		r.fromBrowser = nil
	}
	leaving := false // the browser finishes its frame
	for !leaving || !r.down.between() {
		buf, data, err := in.read()
		if err != nil {
			if why := r.reason(); why == nil {
				r.end(ending{code: closeGoingAway, reason: r.browser.label() + " closed this connection: it ended, or the page did"})
			} else if !leaving && why.code != 0 && errors.Is(err, os.ErrDeadlineExceeded) {
				leaving = true
				r.upstream.SetReadDeadline(time.Now().Add(frameGrace))
				continue
			}
			break
		}
		r.bytesDown.Add(uint64(len(data)))
		err = r.down.relay(data, len(data) < len(buf.b), leaving)
		buf.free()
		if !r.sent(err) {
			break
		}
	}
	r.upstream.Close()
	r.farewell()
}

// sent ends the relay if its client could not be written to.
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

func (r *relay) farewell() {
	why := r.reason()
	deadline := time.Now().Add(farewell)
	if why.code == 0 || !r.down.close(*why, deadline) {
		r.client.Close()
		r.down.out.wait(deadline)
		return
	}
	r.client.CloseWrite()
	r.client.SetReadDeadline(deadline)
}
