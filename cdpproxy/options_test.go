package cdpproxy

import (
	"testing"
	"time"
)

// TestDefaults: the defaults in specs/cdp-endpoint.md.
func TestDefaults(t *testing.T) {
	for _, given := range []*Options{nil, {}} {
		if o := given.withDefaults(); o.HoldTimeout != 30*time.Second || o.MaxBuffered != 256<<20 {
			t.Errorf("a client is held for %v, and %d bytes are kept for it", o.HoldTimeout, o.MaxBuffered)
		}
	}
	if l := New(nil, nil).limits; l.tapMessages != 10_000 || l.tapBytes != 128<<20 || l.waitingBytes != 100<<20 || l.headers != 16<<20 || l.memory != processMemory || l.memory.limit != 512<<20 {
		t.Errorf("the limits are %+v, the budget is %d", l, l.memory.limit)
	}
	given := &Options{HoldTimeout: NoHold, MaxBuffered: 1}
	if o := given.withDefaults(); o.HoldTimeout > 0 || o.MaxBuffered != 1 {
		t.Errorf("not as it was said: held for %v, %d bytes", o.HoldTimeout, o.MaxBuffered)
	}
}
