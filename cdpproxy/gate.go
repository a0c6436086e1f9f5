package cdpproxy

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// maxWaiting bounds the messages of one client that wait for a decision.
const maxWaiting = 1000

// gate stands between a client and its browser: it asks the rule.
type gate struct {
	relay  *relay
	rule   Rule
	reader messageReader

	wg sync.WaitGroup // release

	waiting []waiting // guarded by the relay's lock
}

// waiting is a message that waits for a decision.
type waiting struct {
	m   *Message
	msg *message
}

func newGate(r *relay, rule Rule) *gate {
	g := &gate{relay: r, rule: rule}
	g.reader.claim = claim{budget: r.proxy.limits.memory}
	g.reader.headers = r.proxy.limits.headers
	g.reader.onMessage = g.judge
	g.reader.onControl = g.passControl
	return g
}

// feed reads the client's bytes. It ends the relay if they violate the protocol.
func (g *gate) feed(b []byte) {
	var protocol *protocolError
	if errors.As(g.reader.feed(b), &protocol) {
		g.relay.end(ending{code: protocol.code, reason: protocol.text})
	}
}

func (g *gate) passControl(frame []byte) error {
	_, err := g.relay.toBrowser(frame, nil)
	return err
}

func (g *gate) judge(msg *message) error {
	g.relay.proxy.taps.record(g.relay.who, FromClient, msg.text)
	m, err := ParseCommand(msg.text)
	if err != nil {
		defer msg.free() // m.ID is a part of it
		m.Session = ""   // not to be trusted
		return g.respond(errorReply(m, -32700, fmt.Sprintf("%v; the endpoint's rules apply to what they can read", err)))
	}
	m.Client, m.relay = g.relay.who, g.relay
	v := g.rule.Judge(m)
	if v.Action != Ask {
		return g.apply(m, msg, v)
	}
	if !g.hold(m, msg) {
		defer msg.free()
		return g.respond(errorReply(m, refusedCode, "too many commands wait for a decision"))
	}
	return nil
}

// holds reports whether a message waits. Only judge in this goroutine adds one.
func (g *gate) holds() bool {
	g.relay.mu.Lock()
	defer g.relay.mu.Unlock()
	return len(g.waiting) > 0
}

// hold makes a message wait, unless too many do. A message that waits always counts
// toward the budget.
func (g *gate) hold(m *Message, msg *message) bool {
	g.relay.mu.Lock()
	defer g.relay.mu.Unlock()
	if len(g.waiting) == maxWaiting || msg.held == 0 && !msg.claim.take(cap(msg.raw)) {
		return false
	}
	if msg.held == 0 {
		msg.held = cap(msg.raw)
	}
	m.Since = time.Now()
	if g.waiting = append(g.waiting, waiting{m, msg}); len(g.waiting) == 1 {
		g.wg.Go(g.release)
	}
	return true
}

// release decides on the waiting messages in their order. It ends with the queue or
// the relay.
func (g *gate) release() {
	for w, ok := g.first(false); ok; w, ok = g.first(true) {
		if g.apply(w.m, w.msg, g.rule.Decide(g.relay.ctx, w.m)) != nil {
			return
		}
	}
}

// first returns the message that has waited longest; with next set, the one after it.
func (g *gate) first(next bool) (w waiting, ok bool) {
	g.relay.mu.Lock()
	defer g.relay.mu.Unlock()
	if next {
		g.waiting = g.waiting[1:]
	}
	if len(g.waiting) == 0 {
		return w, false
	}
	return g.waiting[0], true
}

// respond responds to the client in place of the browser.
func (g *gate) respond(text []byte) error {
	g.relay.respond(text)
	if g.relay.ended() {
		return errEnded
	}
	return nil
}

// apply carries out a decision, and frees the message.
func (g *gate) apply(m *Message, msg *message, v Decision) error {
	kept := false
	defer func() {
		if !kept {
			msg.free()
		}
	}()
	switch v.Action {
	case Allow:
		// The decision may be for a command that the next browser allows already.
		if now, _ := g.relay.proxy.source.Browser(); g.relay.endIfReplaced(now) {
			return errEnded
		}
		var err error
		kept, err = g.relay.toBrowser(msg.frames(), msg)
		return err
	case Ignore:
		return g.respond(doneReply(m, v.Result))
	case Disconnect:
		g.relay.respond(doneReply(m, nil))
		g.relay.end(ending{code: closeNormal, reason: v.Reason})
		return errEnded
	default:
		return g.respond(errorReply(m, refusedCode, v.Reason))
	}
}
