package cdpproxy

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"browser-coordinator/internal/queue"
)

// Traffic is one CDP message that passes the proxy.
type Traffic struct {
	Time   time.Time
	Client *Client
	From   Sender
	Text   []byte // JSON, as it was sent; read-only
}

// Sender is who sent a message.
type Sender string

const (
	FromClient   Sender = "client"
	FromBrowser  Sender = "browser"
	FromEndpoint Sender = "endpoint" // in place of the browser, by the rule
)

// Tap receives all messages that pass after it was opened.
type Tap struct {
	proxy *Proxy

	mu      sync.Mutex // guards the fields that follow
	waiting queue.Queue[Traffic]
	rest    []Traffic // that waited when the tap was closed
	dropped int       // messages after those
	closed  bool
}

// tapOverhead is what a message needs besides its text.
const tapOverhead = 128

func (m Traffic) cost() int { return len(m.Text) + tapOverhead }

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
	t := &Tap{proxy: p, waiting: queue.New(p.limits.tapBytes, p.limits.memory, Traffic.cost)}
	p.taps.change(func(now []*Tap) []*Tap { return append(now, t) })
	return t
}

// Ready receives a value when there is something to take.
func (t *Tap) Ready() <-chan struct{} { return t.waiting.Ready() }

// Take returns the messages that wait, in each connection's order, and how many were
// lost after them because the reader was too slow. The caller has finished with the
// messages that it took before.
func (t *Tap) Take() (messages []Traffic, missing int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	messages, missing = t.waiting.Take(math.MaxInt), t.dropped
	if t.closed {
		messages = t.rest
	}
	t.rest, t.dropped = nil, 0
	return messages, missing
}

func (t *Tap) put(m Traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
	case t.dropped > 0 || !t.waiting.Fits(m.cost()):
		t.dropped++
		t.waiting.Wake()
	default:
		t.waiting.Push(m)
	}
}

// Close ends the tap. What waits can still be taken.
func (t *Tap) Close() {
	t.proxy.taps.change(func(now []*Tap) []*Tap {
		return slices.DeleteFunc(now, func(other *Tap) bool { return other == t })
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed, t.rest = true, t.waiting.Take(math.MaxInt)
		t.waiting.Clear()
	}
}

// tapReader joins the browser's frames for the taps. It starts with the first frame
// that begins while a tap is open.
type tapReader struct {
	taps   *taps
	client *Client
	memory *queue.Budget
	reader *messageReader
}

// observe reads data; frames is the state of the stream before it.
func (l *tapReader) observe(frames frameScanner, data []byte) {
	if !l.taps.open() {
		l.drop()
		return
	}
	if l.reader == nil {
		if data = data[frames.rest(data):]; len(data) == 0 {
			return
		}
		l.reader = &messageReader{unmasked: true, memory: l.memory, onMessage: l.message, onControl: ignore}
	}
	if l.reader.feed(data) != nil {
		l.drop() // not a valid message, or too large; the client may
	}
}

// drop forgets the message that is being put together.
func (l *tapReader) drop() {
	if l.reader != nil {
		l.reader.drop()
		l.reader = nil
	}
}

func (l *tapReader) message(text []byte) error {
	l.taps.record(l.client, FromBrowser, text)
	return nil
}

func ignore(byte, []byte) error { return nil }
