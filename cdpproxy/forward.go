package cdpproxy

import (
	"bytes"
	"errors"
	"time"

	"browser-coordinator/cdpproxy/eventloop"
)

// How a relay moves bytes, as the event loop calls it. Its life is in relay.go.

// clientSide handles the client's connection.
type clientSide struct{ *relay }

// Received implements [eventloop.Handler]. Once the relay has ended it ignores the
// bytes, until the client has closed its side: a close with unread bytes would
// reset the connection, and could destroy the close frame on its way.
func (r clientSide) Received(data []byte, err error) eventloop.Next {
	switch {
	case err != nil:
		r.clientLeft()
		return eventloop.Next{}
	case r.ended():
		return eventloop.Next{}
	}
	r.gate.feed(data)
	next := wait(&r.gate.reader.frames)
	next.Apart = r.gate.reader.large()
	return next
}

// clientLeft closes the relay when nothing is left to do for the client.
func (r *relay) clientLeft() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.because(ending{})
	if r.down.left = true; r.state != closing || r.down.flushed() {
		r.close()
	}
}

// Writable implements [eventloop.Handler].
func (r clientSide) Writable() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != closed {
		r.flushClient()
	}
}

// flushClient sends what is queued for the client.
func (r *relay) flushClient() {
	switch err := r.down.flush(); {
	case err != nil:
		r.because(ending{})
		r.close()
	case !r.down.flushed():
	case r.state != closing:
		r.resumeBrowser()
	case r.down.left:
		r.close()
	default:
		r.down.client.CloseWrite()
	}
}

// browserSide handles the browser's connection.
type browserSide struct{ *relay }

// Received implements [eventloop.Handler].
func (r browserSide) Received(data []byte, err error) eventloop.Next {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state == closing || r.state == closed:
	case err != nil && r.state == finishing:
		r.closeClient()
	case err != nil:
		r.upstreamLost()
	default:
		r.toClient(data)
	}
	return wait(&r.down.frames)
}

// wait returns for how much of a stream the relay waits: in a large frame for much
// of it, since a part of a frame is of no use to the other side.
func wait(s *frameScanner) eventloop.Next {
	if s.remain >= lowWater {
		return eventloop.Next{LowWater: lowWater}
	}
	return eventloop.Next{}
}

// Writable implements [eventloop.Handler].
func (r browserSide) Writable() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != open {
		return
	}
	for len(r.unsent) > 0 {
		first := &r.unsent[0]
		n, err := r.upstream.Write(first.bytes)
		if err == nil && n < len(first.bytes) {
			first.bytes = first.bytes[n:]
			return
		}
		first.free() // after an error Received will get the end
		r.unsent = r.unsent[1:]
	}
	r.unsent = nil
	r.down.client.Read(true)
}

func (o outgoing) free() {
	if o.message != nil {
		o.message.free()
	}
}

// upstreamLost ends the relay when the browser closes the connection.
func (r *relay) upstreamLost() {
	r.endLocked(ending{code: closeGoingAway, reason: r.browser.label() + " closed this connection: it ended, or the page did"})
	if r.state == finishing { // nothing completes the frame
		r.closeClient()
	}
}

// toClient forwards the browser's bytes; r.mu is held.
func (r *relay) toClient(data []byte) {
	if len(data) < eventloop.BufferSize {
		r.pause.total = 0
	}
	r.sent(r.down.forward(data, r.state == finishing))
	if r.state == finishing && r.down.frames.between() {
		r.closeClient()
	}
}

// sent follows a write to the client: it ends the relay on an error, and pauses the
// browser if the client has not accepted everything. r.mu is held.
func (r *relay) sent(err error) {
	switch {
	case errors.Is(err, errTooSlow):
		r.endLocked(ending{code: closePolicy, reason: "this client reads too slowly: the endpoint keeps no more for it, and drops nothing silently"})
		if r.state == finishing {
			r.closeClient()
		}
	case err != nil:
		r.because(ending{})
		r.close()
	case r.state == open && !r.down.flushed() && r.pause.allowed():
		r.pause.since = time.Now()
		r.upstream.Read(false)
		r.expire(clientGrace - r.pause.total)
	}
}

// resumeBrowser ends the browser's pause.
func (r *relay) resumeBrowser() {
	if r.pause.isOn() {
		r.pause.end()
		r.upstream.Read(true)
	}
}

// respond sends the client a message of the endpoint's own.
func (r *relay) respond(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == open || r.state == finishing {
		r.sent(r.down.insert(text))
	}
}

// errEnded: there is no one left to write to.
var errEnded = errors.New("the relay has ended")

// toBrowser sends a client's bytes to the browser. If it does not accept them all,
// the client waits. b may be the frames of a message, which toBrowser then may keep,
// and report so.
func (r *relay) toBrowser(b []byte, m *message) (kept bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil {
		return false, errEnded
	}
	if len(r.unsent) == 0 {
		n, err := r.upstream.Write(b)
		if err != nil {
			return false, nil // Received will get the end
		}
		b = b[n:]
	}
	if len(b) == 0 {
		return false, nil
	}
	r.down.client.Read(false)
	if kept = m != nil && m.held > 0; !kept { // a small buffer returns to the pool
		b, m = bytes.Clone(b), nil
	}
	r.unsent = append(r.unsent, outgoing{b, m})
	return kept, nil
}
