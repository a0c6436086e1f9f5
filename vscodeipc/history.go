package vscodeipc

// record is one event as it was sent.
type record struct {
	seq   int64
	event string
	line  []byte
	state *State // of the event state, for clients of another version
}

// in returns the event's line in a protocol version.
func (r record) in(version int) []byte {
	if r.state == nil || version == Version {
		return r.line
	}
	line, err := encodeEvent(r.event, r.seq, r.state.in(version))
	if err != nil {
		return nil // cannot fail: it is shorter than the line that could be encoded
	}
	return line
}

// maxHistoryBytes limits the history of a window with large events. A replay always fits
// into the buffer for one client.
const maxHistoryBytes = 4 << 20

// history keeps the last events of a window session for replay (spec 5, listen).
type history struct {
	records []record
	bytes   int
}

func (h *history) add(r record) {
	h.records = append(h.records, r)
	h.bytes += len(r.line)
	drop := 0
	for len(h.records)-drop > maxHistory || h.bytes > maxHistoryBytes {
		h.bytes -= len(h.records[drop].line)
		drop++
	}
	if drop > 0 {
		n := copy(h.records, h.records[drop:])
		clear(h.records[n:])
		h.records = h.records[:n]
	}
}

// since returns the events after seq, if the history still has all of them. now is the
// last event's number.
func (h *history) since(seq, now int64) ([]record, bool) {
	if seq > now {
		return nil, false
	}
	missed := int(now - seq)
	if missed > len(h.records) {
		return nil, false
	}
	return h.records[len(h.records)-missed:], true
}
