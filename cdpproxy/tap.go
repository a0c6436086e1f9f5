package cdpproxy

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"
)

// Traffic is one CDP message that passes the proxy.
type Traffic struct {
	Time   time.Time
	Client *Client
	From   Sender
	Text   []byte // JSON, as it was sent; read-only

	lost int // messages before it, for one tap
}

// Sender is who sent a message.
type Sender string

const (
	FromClient   Sender = "client"
	FromBrowser  Sender = "browser"
	FromEndpoint Sender = "endpoint" // in place of the browser, by the rule
)

// Tap receives all messages that pass after it was opened. It receives the clients'
// messages only if there is a rule, since only then they are read.
type Tap struct {
	proxy *Proxy
	c     chan Traffic
	limit int   // of bytes
	claim claim // for what waits in c

	mu     sync.Mutex // guards the fields that follow
	bytes  int        // of the messages in c
	lost   int        // messages since the last one in c
	closed bool
}

// Bounds on what waits for the reader of a tap: the proxy never waits for it.
const (
	tapMessages = 10_000
	tapBytes    = 128 << 20
)

// taps are the open taps of a proxy; a nil list is the usual case, and costs one
// atomic load for each piece of data that passes.
type taps struct {
	list atomic.Pointer[[]*Tap]
	mu   sync.Mutex // serialises changes
}

func (t *taps) change(edit func([]*Tap) []*Tap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var now []*Tap
	if list := t.list.Load(); list != nil {
		now = append(now, *list...)
	}
	if now = edit(now); len(now) == 0 {
		t.list.Store(nil)
	} else {
		t.list.Store(&now)
	}
}

func (t *taps) open() bool { return t.list.Load() != nil }

// record sends a message to every tap. The caller may reuse text when it returns.
func (t *taps) record(c *Client, from Sender, text []byte) {
	list := t.list.Load()
	if list == nil {
		return
	}
	m := Traffic{Time: time.Now(), Client: c, From: from, Text: bytes.Clone(text)}
	for _, tap := range *list {
		tap.put(m)
	}
}

// Tap opens a tap, which its caller must close.
func (p *Proxy) Tap() *Tap {
	t := &Tap{proxy: p, c: make(chan Traffic, p.limits.tapMessages), limit: p.limits.tapBytes, claim: claim{budget: p.limits.memory}}
	p.taps.change(func(now []*Tap) []*Tap { return append(now, t) })
	return t
}

// C is the channel of the messages, in each connection's order. It is never closed.
// Took must be called for each received message.
func (t *Tap) C() <-chan Traffic { return t.c }

// Took makes room, and returns how many messages were lost before this one because
// the reader was too slow.
func (t *Tap) Took(m Traffic) (lost int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes -= len(m.Text)
	t.claim.give(len(m.Text))
	return m.lost
}

func (t *Tap) put(m Traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if t.bytes+len(m.Text) > t.limit || !t.claim.take(len(m.Text)) {
		t.lost++
		return
	}
	m.lost = t.lost
	select {
	case t.c <- m:
		t.bytes += len(m.Text)
		t.lost = 0
	default:
		t.lost++
		t.claim.give(len(m.Text))
	}
}

// Close ends the tap. Messages in C can still be received. The first call returns
// how many messages were lost after those.
func (t *Tap) Close() (lost int) {
	t.proxy.taps.change(func(now []*Tap) []*Tap {
		var rest []*Tap
		for _, other := range now {
			if other != t {
				rest = append(rest, other)
			}
		}
		return rest
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.claim.close()
	lost, t.lost = t.lost, 0
	return lost
}

// tapReader joins the browser's frames for the taps. It starts with the first frame
// that begins while a tap is open.
type tapReader struct {
	taps   *taps
	client *Client
	limits *limits
	reader *messageReader
}

// observe reads data; frames is the state of the stream before it.
func (l *tapReader) observe(frames frameScanner, data []byte) {
	if !l.taps.open() {
		l.drop()
		return
	}
	if l.reader == nil {
		data = data[frames.finish(data):]
		if !frames.between() {
			return
		}
		l.reader = &messageReader{unmasked: true, headers: l.limits.headers, claim: claim{budget: l.limits.memory}, onMessage: l.message, onControl: func([]byte) error { return nil }}
	}
	if l.reader.feed(data) != nil {
		l.drop() // not a valid message, or too large; the client may
	}
}

// drop forgets the message that is being put together.
func (l *tapReader) drop() {
	if l.reader != nil {
		l.reader.claim.close()
		l.reader = nil
	}
}

func (l *tapReader) message(m *message) error {
	l.taps.record(l.client, FromBrowser, m.text)
	m.free()
	return nil
}
