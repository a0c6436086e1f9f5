package cdpproxy

import (
	"encoding/binary"
	"unicode/utf8"
)

// Close codes, RFC 6455 section 7.4.1 and the IANA registry.
const (
	closeNormal         = 1000 // by the rule
	closeGoingAway      = 1001 // the browser or this endpoint ends
	closeProtocol       = 1002 // the client breaks RFC 6455
	closeUnsupported    = 1003 // the client sends a binary message
	closePolicy         = 1008 // the client reads too slowly, or is sent away
	closeTooBig         = 1009 // more than Chromium accepts
	closeServiceRestart = 1012 // another browser has taken the place
	closeTryLater       = 1013 // the memory for messages is used up
)

const (
	opClose          = 8
	maxControlFrame  = 125 // RFC 6455 section 5.5
	maxFrameHeader   = 14
	closeReasonLimit = maxControlFrame - 2
)

// frameScanner follows one direction of a WebSocket stream just far enough to
// know where its frames end, so that a close frame can be put between two.
type frameScanner struct {
	header  [maxFrameHeader]byte
	have    int    // bytes of header seen; 0 between frames and in a payload
	remain  uint64 // bytes of payload to come
	closing bool   // a close frame has begun

	messages uint64 // whose last frame has begun
}

// scan advances over b.
func (s *frameScanner) scan(b []byte) {
	for len(b) > 0 {
		b = b[s.frame(b):]
	}
}

// frame advances to the end of the current frame, or of b if that comes first,
// and returns how many bytes that took.
func (s *frameScanner) frame(b []byte) int {
	n := 0
	for s.remain == 0 {
		if n == len(b) {
			return n
		}
		s.header[s.have] = b[n]
		s.have++
		n++
		if s.have < headerLength(s.header[:s.have]) {
			continue
		}
		s.remain = payloadLength(s.header[:s.have])
		s.closing = s.closing || s.header[0]&0x0f == opClose
		if s.header[0]&0x88 == 0x80 { // the last frame of data
			s.messages++
		}
		s.have = 0
		if s.remain == 0 {
			return n
		}
	}
	if rest := uint64(len(b) - n); rest < s.remain {
		s.remain -= rest
		return len(b)
	}
	n += int(s.remain)
	s.remain = 0
	return n
}

// beforeClose advances to the first close frame in b, and returns where it begins:
// at the end of b if there is none.
func (s *frameScanner) beforeClose(b []byte) int {
	n := 0
	for n < len(b) && (!s.between() || b[n]&0x0f != opClose) {
		n += s.frame(b[n:])
	}
	return n
}

// finish advances to the end of the frame that has begun, if one has.
func (s *frameScanner) finish(b []byte) int {
	if s.between() {
		return 0
	}
	return s.frame(b)
}

// between reports whether the stream is between two frames.
func (s *frameScanner) between() bool { return s.have == 0 && s.remain == 0 }

// headerLength returns how long the header that begins with h is; as long as
// that cannot be told, more than len(h).
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

// closeFrame is a server's close frame, its reason cut to what fits.
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
