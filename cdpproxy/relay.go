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

// relay is one client and its browser. Two goroutines pump, down in the one
// that calls run and up in another; both legs end together, since a half-open
// CDP connection is of no use to anyone (facts 8).
type relay struct {
	proxy    *Proxy
	browser  *Browser
	upstream *net.TCPConn
	client   *net.TCPConn // set by attach, before run

	// Bytes that came with a handshake, to be forwarded first.
	fromClient, fromBrowser []byte

	ended  atomic.Bool // set with why, for up to look at without the lock
	upDone chan struct{}

	mu    sync.Mutex // guards the fields that follow, and the setting of client
	why   *ending    // the first reason to end; nil while the relay runs
	isCut bool
}

// end starts the relay's end. It only wakes down, which does the rest; the
// first reason wins.
func (r *relay) end(e ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why != nil {
		return
	}
	r.why = &e
	r.ended.Store(true)
	r.upstream.SetDeadline(time.Unix(1, 0))
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
	go r.up()
	r.down()
	<-r.upDone
	r.client.Close()
	r.upstream.Close()
	why := r.reason()
	r.proxy.log.Debug("cdp client left", "client", r.client.RemoteAddr().String(), "browser", r.browser.Name, "code", why.code, "reason", why.reason)
}

// up pumps from the client to the browser. A slow browser makes the client
// wait. Once the relay has ended it only reads on, until the client has closed
// its side: closing with unread bytes would reset the connection and could
// destroy the close frame on its way.
func (r *relay) up() {
	defer close(r.upDone)
	in, err := newReader(r.client)
	if err != nil {
		r.end(ending{})
		return
	}
	deaf := false // the browser takes no more; down will see its end
	if len(r.fromClient) > 0 {
		_, err := r.upstream.Write(r.fromClient)
		deaf = err != nil
		r.fromClient = nil
	}
	for {
		buf, data, err := in.read()
		if err != nil {
			r.end(ending{})
			return
		}
		if !deaf && !r.ended.Load() {
			_, err = r.upstream.Write(data)
			deaf = err != nil
		}
		buf.free()
	}
}

// down pumps from the browser to the client, always draining the browser, and
// at the end says goodbye to the client.
func (r *relay) down() {
	in, err := newReader(r.upstream)
	if err != nil {
		r.cut()
		return
	}
	try, err := newTryWriter(r.client)
	if err != nil {
		r.cut()
		return
	}
	out := &sender{conn: r.client, try: try, limit: r.proxy.opts.MaxBuffered}
	var frames frameScanner
	if len(r.fromBrowser) > 0 {
		frames.scan(r.fromBrowser)
		if err := out.send(r.fromBrowser); err != nil {
			r.end(ending{})
		}
		r.fromBrowser = nil
	}
	leaving := false // the browser finishes its frame
	for !leaving || !frames.between() {
		buf, data, err := in.read()
		if err != nil {
			if why := r.reason(); why == nil {
				r.end(ending{code: closeGoingAway, reason: r.browser.label() + " closed this connection: it ended, or the page did"})
			} else if !leaving && why.code != 0 && !frames.between() && errors.Is(err, os.ErrDeadlineExceeded) {
				leaving = true
				r.upstream.SetReadDeadline(time.Now().Add(frameGrace))
				continue
			}
			break
		}
		before := frames
		if leaving {
			data = data[:frames.frame(data)]
		} else {
			frames.scan(data)
		}
		err = out.send(data)
		if errors.Is(err, errTooSlow) {
			r.end(ending{code: closePolicy, reason: "this client reads too slowly: the endpoint keeps no more for it, and drops nothing silently"})
			frames = before
			out.last(data[:frames.finish(data)])
			buf.free()
			break
		}
		buf.free()
		if err != nil {
			r.end(ending{})
			break
		}
	}
	r.upstream.Close()
	r.farewell(out, &frames)
}

func (r *relay) farewell(out *sender, frames *frameScanner) {
	why := r.reason()
	deadline := time.Now().Add(farewell)
	if why.code == 0 {
		r.client.Close()
		out.wait(deadline)
		return
	}
	err := out.wait(deadline)
	// A close frame may stand only between two frames, and only one may be
	// sent. In the middle of a frame the broken connection has to speak.
	if err == nil && frames.between() && !frames.closing {
		_, err = r.client.Write(closeFrame(why.code, why.reason))
	}
	if err != nil {
		r.client.Close()
		return
	}
	r.client.CloseWrite()
	r.client.SetReadDeadline(deadline)
}
