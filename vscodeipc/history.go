package vscodeipc

// record is one event as it was sent.
type record struct {
	seq   int64
	event string
	line  []byte
	state *State // of the event state, for those who need it in another version
}

// in gives the event's line as a protocol version has it.
func (r record) in(version int) []byte {
	if r.state == nil || version == Version {
		return r.line
	}
	line, err := encodeEvent(r.event, r.seq, r.state.in(version))
	if err != nil {
		return nil // it is shorter than the line that could be encoded
	}
	return line
}

// maxHistoryBytes bounds the history of a window whose events are large, so
// that a replay always fits what may wait for one client.
const maxHistoryBytes = 4 << 20

// history holds the last events of a window session for replay (spec 5, listen).
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

// since gives the events after seq, if every one of them is still here. Now is
// the last event's number.
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
