package cdpproxy

import (
	"errors"
	"fmt"
)

// gate stands between a client and its browser: it asks the rule.
type gate struct {
	relay  *relay
	rule   Rule
	reader messageReader
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
	m.Client = g.relay.who
	return g.apply(m, msg, g.rule.Judge(m))
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
