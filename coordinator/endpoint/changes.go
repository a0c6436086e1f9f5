package endpoint

// ownedEvent is that this process has become the owner for the first time; the zero
// value has not happened. The endpoint's mutex guards it.
type ownedEvent struct {
	happened chan struct{}
	told     bool
}

// channel is closed when it has happened.
func (o *ownedEvent) channel() chan struct{} {
	if o.happened == nil {
		o.happened = make(chan struct{})
	}
	return o.happened
}

// tell takes whether this process is the owner.
func (o *ownedEvent) tell(owner bool) {
	if owner && !o.told {
		o.told = true
		close(o.channel())
	}
}

// Owned returns a channel that is closed once this process serves the endpoint: by
// now, or when whoever serves it has gone.
func (e *Endpoint) Owned() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.owned.channel()
}
