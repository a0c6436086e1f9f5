package vscodeipc

import "slices"

// record is one change of the state, with the line of its event.
type record struct {
	line  []byte
	state State
}

// in returns the event's line in a protocol version.
func (r record) in(version int) []byte {
	if version == Version {
		return r.line
	}
	line, _ := encodeEvent("state", r.state.Revision, r.state.in(version)) // it is shorter than the line
	return line
}

// maxHistoryBytes limits the history of a window with large states. A replay always fits
// into the buffer for one client.
const maxHistoryBytes = 4 << 20

// history keeps the last changes of a window session for replay (spec 5, listen).
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
	h.records = slices.Delete(h.records, 0, drop)
}

// since returns the changes after seq, if the history still has all of them. now is the
// last one's number.
func (h *history) since(seq, now int64) ([]record, bool) {
	first := int64(len(h.records)) - (now - seq)
	if seq > now || first < 0 {
		return nil, false
	}
	return h.records[first:], true
}
