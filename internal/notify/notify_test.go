package notify

import "testing"

func TestBroadcast(t *testing.T) {
	var b Broadcast
	b.Notify() // no goroutine waits
	first := b.Next()
	if b.Next() != first {
		t.Error("without a change there are two channels")
	}
	select {
	case <-first:
		t.Error("the channel is closed before the change")
	default:
	}
	b.Notify()
	<-first
	select {
	case <-b.Next():
		t.Error("the next channel is closed before the next change")
	default:
	}
}
