package cdpproxy

// lowWater is how many bytes of a large frame must be there before the relay is
// woken for it.
const lowWater = 512 << 10

// waterline returns how many bytes of the browser the relay is to be woken for,
// and whether that is another number than before. It is more than one only where
// so many bytes of a frame are still to come, of which a part is of no use to the
// client. The caller is the one that calls told.
func (r *relay) waterline() (bytes int, other bool) {
	bytes = 1
	if r.down.frames.remain >= lowWater {
		bytes = lowWater
	}
	if bytes == r.woken || bytes == 1 && r.woken == 0 {
		return bytes, false
	}
	r.woken = bytes
	return bytes, true
}
