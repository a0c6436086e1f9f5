package cdpproxy

// lowWater is how many bytes of a large frame must be there before the relay wakes.
const lowWater = 512 << 10

// nextLowWater returns how many bytes of the browser the relay waits for, and
// whether that number has changed. It exceeds one only while at least that many
// bytes of a frame are still to come: a part of a frame is of no use to the client.
// Only the caller of forwardDown calls it.
func (r *relay) nextLowWater() (bytes int, other bool) {
	bytes = 1
	if r.down.frames.remain >= lowWater {
		bytes = lowWater
	}
	if bytes == r.lowWater || bytes == 1 && r.lowWater == 0 {
		return bytes, false
	}
	r.lowWater = bytes
	return bytes, true
}
