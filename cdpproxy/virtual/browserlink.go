package virtual

// Commands to the browser go to the oldest tab, through a link of the session's
// own. When that tab closes the next one replaces it, with the settings of the
// session and its events.

// browserLink is the link to the tab that responds for the browser, nil if there is
// none.
func (s *session) browserLink() *link {
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.link == nil || s.link.done() {
		first := b.first()
		if first == nil || s.ended {
			return nil
		}
		s.linkTo(first)
	}
	return s.link
}

// done reports whether the link's page or its connection has gone. Browser.mu is
// held.
func (l *link) done() bool { return !l.target.offered || l.ctx.Err() != nil }

// succeed replaces a closed tab by the oldest one that is left. mu is held.
func (b *Browser) succeed() {
	first := b.first()
	if first == nil {
		return
	}
	for s := range b.sessions() {
		if s.kind == ofBrowser && s.link != nil && s.link.done() {
			s.linkTo(first)
		}
	}
}

// linkTo makes a tab respond for the browser from now on. mu is held.
func (s *session) linkTo(t *target) {
	before := s.link
	s.link = newLink(s, t)
	if before == nil {
		return
	}
	before.mu.Lock()
	s.link.mu.Lock()
	for domain := range before.subscribed {
		s.link.subscribe(domain)
	}
	for name := range before.on {
		if name != trace {
			s.link.turnOn(name)
		}
	}
	s.link.mu.Unlock()
	before.mu.Unlock()
	for _, m := range before.held() {
		again := *m
		again.ID = nil // it has its response
		if st, _, ok := settingOf(again); ok {
			s.link.set(&again, st)
		}
	}
	before.cancel()
}
