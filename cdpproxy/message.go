package cdpproxy

import (
	"fmt"

	"browser-coordinator/internal/queue"
)

// Memory for the rest of a frame is taken at once after wholeFrame bytes of the message
// have come: a client that only announces a large frame gets none.
const wholeFrame = 1 << 20

// messageReader joins the frames of one direction to messages. Between messages it
// holds no buffer. Its error is an [ending] for a stream that violates RFC 6455: Chromium
// would end such a client too, and a rule must see every message.
type messageReader struct {
	unmasked  bool // a browser's stream
	memory    *queue.Budget
	onMessage func(text []byte) error             // which may keep the text
	onControl func(op byte, payload []byte) error // ping, pong or close

	frames   frameScanner
	op       byte
	fin      bool
	mask     [4]byte
	partial  bool   // the last frame of a message has not come
	text     []byte // of that message, unmasked up to start
	start    int    // of the current frame in text
	reserved int    // of memory, for text
	control  []byte // the payload of an incomplete control frame
	closed   bool   // a close frame has come
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
		if err := r.add(p.payload); err != nil {
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
		return ending{closeProtocol, "reserved bits are set, but no extension was agreed on"}
	case h[1]&0x80 == 0 && !r.unmasked:
		return ending{closeProtocol, "a client's frames must be masked"}
	case r.op == opBinary:
		return ending{closeUnsupported, "CDP is spoken in text frames"}
	case r.op >= opClose && r.op <= opPong:
		if !r.fin || size > maxControlFrame {
			return ending{closeProtocol, "a control frame is split or too long"}
		}
	case r.op > opBinary:
		return ending{closeProtocol, "unknown opcode"}
	case r.op == opContinuation && !r.partial:
		return ending{closeProtocol, "a message begins with a continuation"}
	case r.op == opText && r.partial:
		return ending{closeProtocol, "a message begins within another"}
	}
	if !r.unmasked {
		r.mask = maskOf(h)
	}
	if r.op >= opClose {
		return nil
	}
	r.partial, r.start = true, len(r.text)
	if size > maxMessage || uint64(len(r.text))+size > maxMessage {
		return ending{closeTooBig, fmt.Sprintf("a message of more than %d bytes; Chromium takes none", maxMessage)}
	}
	return nil
}

// add adds b to the current message or control frame.
func (r *messageReader) add(b []byte) error {
	if r.op >= opClose {
		r.control = append(r.control, b...)
		return nil
	}
	if need, rest := len(r.text)+len(b), int(r.frames.remain); need > cap(r.text) {
		size := max(need, 2*cap(r.text), 512)
		if need > wholeFrame {
			size = max(size, need+rest)
		}
		if r.fin { // nothing follows this frame
			size = min(size, need+rest)
		}
		used := 0
		if size > smallMessage {
			if used = size; !r.memory.Reserve(used) {
				return exhausted(r.memory)
			}
		}
		r.text = append(make([]byte, 0, size), r.text...)
		r.memory.Add(-r.reserved)
		r.reserved = used
	}
	r.text = append(r.text, b...)
	return nil
}

// end completes a frame.
func (r *messageReader) end() error {
	if r.op >= opClose {
		payload := r.control
		r.control, r.closed = nil, r.op == opClose
		if !r.unmasked {
			unmask(payload, r.mask)
		}
		return r.onControl(r.op, payload)
	}
	if !r.unmasked {
		unmask(r.text[r.start:], r.mask)
	}
	if !r.fin {
		return nil
	}
	err := r.onMessage(r.text)
	r.drop()
	return err
}

// drop forgets the message that is being read.
func (r *messageReader) drop() {
	r.memory.Add(-r.reserved)
	r.partial, r.text, r.reserved = false, nil, 0
}
