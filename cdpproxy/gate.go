package cdpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// Bounds on the messages of one client that wait for a decision.
const (
	maxWaiting      = 1000
	maxWaitingBytes = maxMessage
)

// gate stands between a client and its browser where there is a rule.
type gate struct {
	relay  *relay
	rule   Rule
	reader messageReader

	message Message // the one under judgment; only for the goroutine that feeds

	wg sync.WaitGroup // release

	mu      sync.Mutex // guards the fields that follow
	waiting []waiting
	bytes   int // in waiting
}

// waiting is a message whose verdict is pending, or one that keeps its place behind
// such a message.
type waiting struct {
	m       *Message
	msg     *message
	size    int
	verdict Verdict
}

func newGate(r *relay, rule Rule) *gate {
	g := &gate{relay: r, rule: rule}
	g.message.attached = r.down.attached
	g.reader.claim = claim{budget: r.proxy.limits.memory, evict: r.evict, over: r.over}
	g.reader.headers = r.proxy.limits.headers
	g.reader.onMessage = g.judge
	g.reader.onControl = r.write
	return g
}

// feed reads the client's bytes. It ends the relay if they violate the protocol.
func (g *gate) feed(b []byte) error {
	err := g.reader.feed(b)
	var protocol *protocolError
	if errors.As(err, &protocol) {
		g.relay.end(ending{code: protocol.code, reason: protocol.text})
	}
	return err
}

func (g *gate) judge(msg *message) error {
	waits := false
	defer func() {
		if !waits {
			msg.free()
		}
	}()
	g.relay.messagesUp.Add(1)
	g.relay.proxy.taps.record(g.relay.who, FromClient, msg.text)
	m := &g.message
	m.Client = g.relay.who
	defer m.forget()
	if err := decode(msg.text, m); err != nil {
		m.Session = "" // the last message's, or this one's and not to be trusted
		return g.respond(errorReply(m, -32700, fmt.Sprintf("%v; the endpoint's rules apply to what they can read", err)))
	}
	v := g.rule.Judge(m)
	if v.Action != Wait && !(v.Behind && g.holds()) {
		return g.apply(m, msg, v)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	kept, size := msg, cap(msg.raw)
	if msg.held == 0 { // its buffer may be larger than it, and returns to the pool
		size = len(msg.raw)
		kept = &message{claim: msg.claim, held: size + len(m.ID)}
	}
	if len(g.waiting) == maxWaiting || g.bytes+size > g.relay.proxy.limits.waitingBytes || kept != msg && !kept.claim.take(kept.held) {
		return g.respond(errorReply(m, refusedCode, "too many commands wait for a decision"))
	}
	w := waiting{m.kept(), kept, size, v}
	if waits = kept == msg; !waits {
		kept.raw = bytes.Clone(msg.frames())
	}
	g.waiting = append(g.waiting, w)
	g.bytes += size
	if len(g.waiting) == 1 {
		g.wg.Add(1)
		go g.release()
	}
	return nil
}

// holds reports whether a message waits. Only judge in this goroutine adds one.
func (g *gate) holds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting) > 0
}

// release forwards waiting messages in their order, as their verdicts arrive. It
// ends with the queue or the relay.
func (g *gate) release() {
	defer g.wg.Done()
	for {
		g.mu.Lock()
		first := g.waiting[0]
		g.mu.Unlock()

		v := first.verdict
		for v.Action == Wait {
			var ok bool
			select {
			case v, ok = <-v.Later:
				if !ok {
					v = Verdict{Action: Refuse, Reason: "nobody decided on this command"}
				}
			case <-g.relay.over:
				return
			}
		}
		if g.apply(first.m, first.msg, v) != nil {
			return
		}

		g.mu.Lock()
		g.waiting = g.waiting[1:]
		g.bytes -= first.size
		empty := len(g.waiting) == 0
		g.mu.Unlock()
		first.msg.free()
		if empty {
			return
		}
	}
}

// respond responds to the client in place of the browser. It ends the relay if a
// write to the client fails, or if the client's queue has no room for the response.
func (g *gate) respond(answer []byte) error {
	err := g.relay.down.insert(answer)
	g.relay.sent(err)
	return err
}

func (g *gate) apply(m *Message, msg *message, v Verdict) error {
	switch v.Action {
	case Pass:
		// The verdict may be for a command that the next browser allows already.
		if now, _ := g.relay.proxy.source.Browser(); g.relay.endIfReplaced(now) {
			return errEnded
		}
		return g.relay.write(msg.frames())
	case Ignore:
		return g.respond(doneReply(m, v.Result))
	case End:
		err := g.respond(doneReply(m, nil))
		g.relay.end(ending{code: closeNormal, reason: v.Reason})
		return err
	default:
		return g.respond(errorReply(m, refusedCode, v.Reason))
	}
}
