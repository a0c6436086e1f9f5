// Package notify notifies goroutines of a change, without a queue: each then reads the
// state again.
//
//	s.mu.Lock()
//	state, changed := s.state, s.changed.Next()
//	s.mu.Unlock()
//	// use state, then
//	<-changed
package notify

// Broadcast notifies all waiting goroutines. Its zero value is ready for use. The mutex
// of the state that it belongs to guards it.
type Broadcast struct{ next chan struct{} }

// Next returns the channel that the next Notify closes.
func (b *Broadcast) Next() <-chan struct{} {
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Notify closes the channel that Next has returned.
func (b *Broadcast) Notify() {
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
