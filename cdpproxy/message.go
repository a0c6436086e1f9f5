package cdpproxy

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// maxMessage is what Chromium accepts (facts 1).
const maxMessage = 100 << 20

// maxHeaders bounds the headers of one message's frames, which are kept too: a
// message may come in as many frames as one likes, empty ones among them. Sent
// byte by byte, 2.5 MB fit.
const maxHeaders = 16 << 20

const (
	opContinuation = 0
	opText         = 1
	opBinary       = 2
	opPong         = 10
)

// protocolError ends a client that breaks RFC 6455. Chromium would end it too;
// what it might make of such bytes is not left to chance where a rule has to
// see every message.
type protocolError struct {
	code uint16
	text string
}

func (e *protocolError) Error() string { return e.text }

// message is one message of a client: its frames as they came, and its text.
type message struct {
	raw, text []byte
}

var messages = sync.Pool{New: func() any { return new(message) }}

func (m *message) free() {
	if cap(m.raw) <= bufferSizes[0] {
		m.raw, m.text = m.raw[:0], m.text[:0]
		messages.Put(m)
	}
}

// messageReader takes a client's stream apart. Between messages it holds no
// buffer.
type messageReader struct {
	unmasked bool // a browser's stream
	header   [maxFrameHeader]byte
	have     int    // bytes of header seen; 0 while a payload is read
	inFrame  bool   // the header is complete, remain bytes of payload to come
	remain   uint64 // bytes of payload to come
	at       int    // position in the payload, for the mask
	op       byte
	fin      bool
	mask     [4]byte
	closed   bool // the other side has said its last word

	open    *message // whose last frame has not come yet, nil between messages
	control []byte   // the control frame that is being read, as it came

	onMessage func(*message) error     // frees it
	onControl func(frame []byte) error // ping, pong or close, as it came
}

// feed reads b, and calls onMessage and onControl for what is complete. What comes
// behind a close frame is ignored, RFC 6455 section 5.5.1.
func (r *messageReader) feed(b []byte) error {
	for len(b) > 0 && !r.closed {
		if !r.inFrame {
			r.header[r.have] = b[0]
			r.have++
			b = b[1:]
			if r.have < headerLength(r.header[:r.have]) {
				continue
			}
			if err := r.begin(r.header[:r.have]); err != nil {
				return err
			}
			r.have = 0
		}
		n := len(b)
		if uint64(n) > r.remain {
			n = int(r.remain)
		}
		r.payload(b[:n])
		b = b[n:]
		r.remain -= uint64(n)
		if r.remain == 0 {
			if err := r.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin checks the complete header h, RFC 6455 section 5.2.
func (r *messageReader) begin(h []byte) error {
	r.inFrame, r.at = true, 0
	r.fin, r.op = h[0]&0x80 != 0, h[0]&0x0f
	r.remain = payloadLength(h)
	switch {
	case h[0]&0x70 != 0:
		return &protocolError{closeProtocol, "reserved bits are set, but no extension was agreed on"}
	case h[1]&0x80 == 0 && !r.unmasked:
		return &protocolError{closeProtocol, "a client's frames must be masked"}
	case r.op == opBinary:
		return &protocolError{closeUnsupported, "CDP is spoken in text frames"}
	case r.op >= opClose && r.op <= opPong:
		if !r.fin || r.remain > maxControlFrame {
			return &protocolError{closeProtocol, "a control frame is split or too long"}
		}
	case r.op > opBinary:
		return &protocolError{closeProtocol, "unknown opcode"}
	case r.op == opContinuation && r.open == nil:
		return &protocolError{closeProtocol, "a message begins with a continuation"}
	case r.op == opText && r.open != nil:
		return &protocolError{closeProtocol, "a message begins within another"}
	}
	if !r.unmasked {
		copy(r.mask[:], h[len(h)-4:])
	}
	if r.op >= opClose {
		r.control = append(r.control, h...)
		return nil
	}
	if r.open == nil {
		r.open = messages.Get().(*message)
	}
	if len(r.open.raw)+len(h)-len(r.open.text) > maxHeaders {
		return &protocolError{closeTooBig, fmt.Sprintf("a message in so many frames that their headers take more than %d bytes", maxHeaders)}
	}
	if r.remain > maxMessage || uint64(len(r.open.text))+r.remain > maxMessage {
		return &protocolError{closeTooBig, fmt.Sprintf("a message of more than %d bytes; Chromium takes none", maxMessage)}
	}
	r.open.raw = append(r.open.raw, h...)
	return nil
}

func (r *messageReader) payload(b []byte) {
	if r.op >= opClose {
		r.control = append(r.control, b...)
		return
	}
	r.open.raw = append(r.open.raw, b...)
	start := len(r.open.text)
	r.open.text = append(r.open.text, b...)
	unmask(r.open.text[start:], r.mask, r.at)
	r.at += len(b)
}

func (r *messageReader) end() error {
	r.inFrame = false
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
	return r.onMessage(m)
}

// unmask undoes the mask of b, which begins at position at of its payload.
func unmask(b []byte, mask [4]byte, at int) {
	var turned [8]byte
	for i := range turned {
		turned[i] = mask[(at+i)&3]
	}
	word := binary.LittleEndian.Uint64(turned[:])
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^word)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= turned[i&3]
	}
}

// textFrame is a server's text frame.
func textFrame(payload []byte) []byte {
	b := make([]byte, 0, len(payload)+10)
	b = append(b, 0x80|opText)
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}
