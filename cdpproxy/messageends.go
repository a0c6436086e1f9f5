package cdpproxy

import "browser-coordinator/cdpproxy/capture"

// messageEnds reads the beginning and the end of each message of a browser's stream.
type messageEnds struct {
	each func(beginning, end []byte) // which does not keep them

	frames    frameScanner
	fin       bool // of the current frame
	control   bool
	partial   bool // the last piece of a message has not come
	beginning []byte
	end       []byte
}

// feed reads the next bytes of the stream.
func (m *messageEnds) feed(b []byte) {
	for len(b) > 0 {
		var p piece
		p, b = m.frames.next(b)
		if p.header != nil {
			m.fin, m.control = p.header[0]&0x80 != 0, p.header[0]&0x0f >= opClose
		}
		whole := m.fin && p.last
		switch {
		case m.control:
		case whole && !m.partial: // all of it is in b
			m.each(p.payload, p.payload)
		case p.header != nil || m.partial:
			m.add(p.payload)
			if whole {
				m.each(m.beginning, m.end)
				m.partial, m.beginning, m.end = false, nil, nil
			}
		}
	}
}

// add adds a piece of a message that comes in several.
func (m *messageEnds) add(payload []byte) {
	m.partial = true
	room := capture.Beginning - len(m.beginning)
	m.beginning = append(m.beginning, payload[:min(room, len(payload))]...)
	m.end = append(m.end, payload[max(0, len(payload)-capture.End):]...)
	m.end = m.end[max(0, len(m.end)-capture.End):]
}
