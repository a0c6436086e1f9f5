package pagebrowser

// What is asked of the browser is asked of its oldest tab, by a link of the
// session's own. When that tab goes the next one takes its place, with all that
// the session has set up in the browser and listens to.

// deputy is the link to the page that answers for the browser, nil if there is
// none now.
func (s *session) deputy() *link {
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.link == nil || s.link.done() {
		first := b.first()
		if first == nil || s.ended {
			return nil
		}
		s.appoint(first)
	}
	return s.link
}

// done reports whether the link's page or its connection has gone. Browser.mu is
// held.
func (l *link) done() bool { return !l.target.offered || l.ctx.Err() != nil }

// dismiss ends the links by which a page that goes has answered for the browser. mu
// is held.
func (b *Browser) dismiss(t *target) {
	for c := range b.clients {
		for _, s := range c.all() {
			if s.kind == ofBrowser && s.link != nil && s.link.target == t {
				s.link.cancel()
			}
		}
	}
}

// succeed has the oldest tab take the place of one that has gone. mu is held.
func (b *Browser) succeed() {
	first := b.first()
	if first == nil {
		return
	}
	for c := range b.clients {
		for _, s := range c.all() {
			if s.kind == ofBrowser && s.link != nil && s.link.done() {
				s.appoint(first)
			}
		}
	}
}

// appoint links the session with a page, which answers for the browser from now
// on. What the page before was asked and has not answered is answered with an
// error. mu is held.
func (s *session) appoint(t *target) {
	before := s.link
	s.link = newLink(s, t)
	if before == nil {
		return
	}
	l := s.link
	before.mu.Lock()
	defer before.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for domain := range before.subscribed {
		l.subscribe(domain)
	}
	for name := range before.on.on {
		if name != trace {
			l.on.turnOn(name)
		}
	}
	for _, h := range before.held {
		before.release(hold{before.target, h.key}, h)
		if !h.sure {
			continue // it is answered with the error
		}
		if h.command.Method == "Tracing.start" {
			l.on.turnOn(trace)
		}
		l.add(h)
		l.again(h)
	}
	before.held = nil
	before.cancel()
}
