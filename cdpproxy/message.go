package cdpproxy

import (
	"fmt"
	"sync"
)

// maxMessage is Chromium's limit.
const maxMessage = 100 << 20

const (
	// A message up to smallMessage does not count toward the budget.
	smallMessage = 64 << 10
	// Memory for the rest of a frame is taken at once after wholeFrame bytes of the
	// message have come: a client that only announces a large frame gets none.
	wholeFrame = 1 << 20
	// largeMessage takes so long to read and to decode that other clients of the
	// same goroutine would wait for it.
	largeMessage = 256 << 10
)

// maxHeaders bounds the headers of one message's frames, which are kept too. A
// message may come in any number of frames, also empty ones. A message of 2.5 MB
// fits when it is sent byte by byte.
const maxHeaders = 16 << 20

// protocolError ends a client that violates RFC 6455. Chromium would end it too. A
// rule must see every message, so the browser never gets such bytes.
type protocolError struct {
	code uint16
	text string
}

func (e *protocolError) Error() string { return e.text }

// message is one message of a client: its frames and its text. The text of a
// message in one frame is stored in that frame, unmasked, until frames restores it.
// So a large message is in memory once.
type message struct {
	raw, text []byte

	first   int     // length of the first frame's header
	mask    [4]byte // of the last frame
	inPlace bool    // text is a part of raw, unmasked in place
	claim   *claim  // for the bytes of raw and text beyond smallMessage
	held    int     // of claim
}

var messages = sync.Pool{New: func() any { return new(message) }}

// free releases the message's memory.
func (m *message) free() {
	m.claim.give(m.held)
	raw := m.raw[:0]
	if cap(raw) > smallMessage {
		raw = nil
	}
	*m = message{raw: raw}
	messages.Put(m)
}

// hold claims a buffer of that size from the budget.
func (m *message) hold(size int) error {
	if size <= smallMessage {
		return nil
	}
	if !m.claim.take(size) {
		return m.claim.budget.exhausted()
	}
	m.held += size
	return nil
}

// append adds b to the frames. more is how many bytes of the same frame are to
// come; with last set, nothing follows that frame.
func (m *message) append(b []byte, more int, last bool) error {
	need := len(m.raw) + len(b)
	if need > cap(m.raw) {
		size := max(need, 2*cap(m.raw), 512)
		if need > wholeFrame {
			size = max(size, need+more)
		}
		if last {
			size = min(size, need+more)
		}
		if err := m.hold(size); err != nil {
			return err
		}
		before := m.raw
		m.raw = append(make([]byte, 0, size), before...)
		if old := cap(before); old > smallMessage {
			m.claim.give(old)
			m.held -= old
		}
	}
	m.raw = append(m.raw, b...)
	return nil
}

// finish makes the text after the last frame.
func (m *message) finish(payload int, masked bool) error {
	if m.first+payload == len(m.raw) {
		m.text = m.raw[m.first:]
		if masked {
			m.inPlace = true
			unmask(m.text, m.mask)
		}
		return nil
	}
	if err := m.hold(payload); err != nil {
		return err
	}
	m.text = make([]byte, 0, payload)
	var frames frameScanner
	for rest := m.raw; len(rest) > 0; {
		var p piece
		p, rest = frames.next(rest)
		start := len(m.text)
		m.text = append(m.text, p.payload...)
		if masked {
			unmask(m.text[start:], maskOf(p.header))
		}
	}
	return nil
}

// frames returns the message as it came. It invalidates the text.
func (m *message) frames() []byte {
	if m.inPlace {
		m.inPlace = false
		unmask(m.text, m.mask)
	}
	return m.raw
}

// messageReader parses a client's stream. Between messages it holds no buffer.
type messageReader struct {
	unmasked bool // a browser's stream
	headers  int  // bound on the headers of one message's frames
	frames   frameScanner
	op       byte
	fin      bool
	closed   bool // a close frame has come

	open    *message // whose last frame has not come; nil between messages
	payload int      // its payload so far, with announced bytes
	claim   claim    // for the memory of the messages
	control []byte   // the control frame that is incomplete, as it came

	onMessage func(*message) error     // it must free the message
	onControl func(frame []byte) error // ping, pong or close, as it came
}

// feed reads b, and calls onMessage and onControl for what is complete. It ignores
// everything after a close frame, RFC 6455 section 5.5.1.
func (r *messageReader) feed(b []byte) error {
	for len(b) > 0 && !r.closed {
		var p piece
		p, b = r.frames.next(b)
		if p.header != nil {
			if err := r.begin(p.header); err != nil {
				return err
			}
		}
		if err := r.keep(p.payload); err != nil {
			return err
		}
		if p.last {
			if err := r.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin checks the complete header h, RFC 6455 section 5.2.
func (r *messageReader) begin(h []byte) error {
	r.fin, r.op = h[0]&0x80 != 0, h[0]&0x0f
	size := payloadLength(h)
	switch {
	case h[0]&0x70 != 0:
		return &protocolError{closeProtocol, "reserved bits are set, but no extension was agreed on"}
	case h[1]&0x80 == 0 && !r.unmasked:
		return &protocolError{closeProtocol, "a client's frames must be masked"}
	case r.op == opBinary:
		return &protocolError{closeUnsupported, "CDP is spoken in text frames"}
	case r.op >= opClose && r.op <= opPong:
		if !r.fin || size > maxControlFrame {
			return &protocolError{closeProtocol, "a control frame is split or too long"}
		}
	case r.op > opBinary:
		return &protocolError{closeProtocol, "unknown opcode"}
	case r.op == opContinuation && r.open == nil:
		return &protocolError{closeProtocol, "a message begins with a continuation"}
	case r.op == opText && r.open != nil:
		return &protocolError{closeProtocol, "a message begins within another"}
	}
	if r.op >= opClose {
		r.control = append(r.control, h...)
		return nil
	}
	if r.open == nil {
		r.open, r.payload = messages.Get().(*message), 0
		r.open.claim, r.open.first = &r.claim, len(h)
	}
	if !r.unmasked {
		r.open.mask = maskOf(h)
	}
	if len(r.open.raw)+len(h)-r.payload > r.headers {
		return &protocolError{closeTooBig, fmt.Sprintf("a message in so many frames that their headers take more than %d bytes", r.headers)}
	}
	if size > maxMessage || uint64(r.payload)+size > maxMessage {
		return &protocolError{closeTooBig, fmt.Sprintf("a message of more than %d bytes; Chromium takes none", maxMessage)}
	}
	r.payload += int(size)
	return r.open.append(h, int(size), r.fin)
}

// keep adds b to the current message or control frame.
func (r *messageReader) keep(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if r.op >= opClose {
		r.control = append(r.control, b...)
		return nil
	}
	return r.open.append(b, int(r.frames.remain), r.fin)
}

func (r *messageReader) end() error {
	if r.op >= opClose {
		frame := r.control
		r.control = nil
		r.closed = r.op == opClose
		return r.onControl(frame)
	}
	if !r.fin {
		return nil
	}
	m := r.open
	r.open = nil
	if err := m.finish(r.payload, !r.unmasked); err != nil {
		m.free()
		return err
	}
	return r.onMessage(m)
}

// large reports whether a large message is being read.
func (r *messageReader) large() bool { return r.open != nil && r.payload >= largeMessage }
