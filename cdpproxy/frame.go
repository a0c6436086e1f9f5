package cdpproxy

import (
	"encoding/binary"
	"unicode/utf8"
)

// Close codes, RFC 6455 section 7.4.1 and the IANA registry.
const (
	closeNormal         = 1000 // closed by the rule
	closeGoingAway      = 1001 // the browser or this endpoint ends
	closeProtocol       = 1002 // the client breaks RFC 6455
	closeUnsupported    = 1003 // the client sends a binary message
	closePolicy         = 1008 // the client reads too slowly, or is disconnected
	closeTooBig         = 1009 // more than Chromium accepts
	closeServiceRestart = 1012 // another browser has replaced this one
	closeTryLater       = 1013 // the memory for messages is used up
)

// Opcodes, RFC 6455 section 5.2.
const (
	opContinuation = 0
	opText         = 1
	opBinary       = 2
	opClose        = 8
	opPing         = 9
	opPong         = 10
)

const (
	maxControlFrame  = 125 // RFC 6455 section 5.5
	maxFrameHeader   = 14
	closeReasonLimit = maxControlFrame - 2
)

// frameScanner follows one direction of a WebSocket stream. It is the only parser
// of frame headers. It knows where frames end, so that a frame of the endpoint's
// own can be sent between two.
type frameScanner struct {
	header  [maxFrameHeader]byte
	have    int    // bytes of header seen; 0 between frames and in a payload
	remain  uint64 // bytes of payload to come
	closing bool   // a close frame has begun
}

// piece is a part of one frame.
type piece struct {
	header  []byte // valid until the next call; nil if the header came before, or is incomplete
	payload []byte // the bytes that have come, still masked
	last    bool   // the frame is complete
}

// next returns the next piece of b, up to the end of the current frame or of b, and
// the rest of b.
func (s *frameScanner) next(b []byte) (piece, []byte) {
	var p piece
	if s.remain == 0 {
		for s.have < headerLength(s.header[:s.have]) {
			if len(b) == 0 {
				return p, nil
			}
			s.header[s.have] = b[0]
			s.have++
			b = b[1:]
		}
		p.header = s.header[:s.have]
		s.have, s.remain = 0, payloadLength(p.header)
		s.closing = s.closing || p.header[0]&0x0f == opClose
	}
	n := min(uint64(len(b)), s.remain)
	s.remain -= n
	p.payload, p.last = b[:n], s.remain == 0
	return p, b[n:]
}

// scan advances over b.
func (s *frameScanner) scan(b []byte) {
	for len(b) > 0 {
		_, b = s.next(b)
	}
}

// rest returns how many bytes of b belong to the frame that has begun, if one has.
func (s frameScanner) rest(b []byte) int {
	if s.atBoundary() {
		return 0
	}
	_, others := s.next(b)
	return len(b) - len(others)
}

// beforeClose returns how many bytes of b come before a close frame; all if none begins.
func (s frameScanner) beforeClose(b []byte) int {
	for rest := b; len(rest) > 0; _, rest = s.next(rest) {
		if s.atBoundary() && rest[0]&0x0f == opClose {
			return len(b) - len(rest)
		}
	}
	return len(b)
}

// atBoundary reports whether the stream is between two frames.
func (s *frameScanner) atBoundary() bool { return s.have == 0 && s.remain == 0 }

// headerLength returns the length of the header that begins with h. While h is too
// short to decide, the result is greater than len(h).
func headerLength(h []byte) int {
	if len(h) < 2 {
		return 2
	}
	n := 2
	switch h[1] & 0x7f {
	case 126:
		n += 2
	case 127:
		n += 8
	}
	if h[1]&0x80 != 0 {
		n += 4
	}
	return n
}

func payloadLength(h []byte) uint64 {
	switch n := h[1] & 0x7f; n {
	case 126:
		return uint64(binary.BigEndian.Uint16(h[2:]))
	case 127:
		return binary.BigEndian.Uint64(h[2:])
	default:
		return uint64(n)
	}
}

// closeFrame returns a server's close frame, with its reason cut to fit.
func closeFrame(code uint16, reason string) []byte {
	if len(reason) > closeReasonLimit {
		reason = reason[:closeReasonLimit]
		for !utf8.ValidString(reason) {
			reason = reason[:len(reason)-1]
		}
	}
	b := []byte{0x80 | opClose, byte(2 + len(reason)), byte(code >> 8), byte(code)}
	return append(b, reason...)
}

// maskOf returns the mask at the end of a client's header.
func maskOf(header []byte) [4]byte { return [4]byte(header[len(header)-4:]) }

// unmask masks or unmasks a payload.
func unmask(b []byte, mask [4]byte) {
	word := uint64(binary.LittleEndian.Uint32(mask[:]))
	word |= word << 32
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^word)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= mask[i&3]
	}
}

// newFrame begins a frame of that size: with its header, and room for a mask and for so
// many bytes of the payload. masked is 0x80 for a client's frame.
func newFrame(op, masked byte, size, room int) []byte {
	b := append(make([]byte, 0, maxFrameHeader+room), 0x80|op)
	switch {
	case size < 126:
		return append(b, masked|byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, masked|126), uint16(size))
	default:
		return binary.BigEndian.AppendUint64(append(b, masked|127), uint64(size))
	}
}
