package registry

import (
	"context"
	"sync"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/vscodeipc"
)

// Source follows the browser of one workspace, through every restart of the
// browser and of the window. It satisfies [cdpproxy.Source].
type Source struct {
	workspace string

	mu         sync.Mutex // guards the fields that follow
	window     bool       // a window on the workspace is there
	session    string     // of the window and debug session that browser belongs to
	browser    *cdpproxy.Browser
	changed    chan struct{} // closed and replaced when any of it changes
	generation uint64
}

// Source returns the one source of a workspace, by its canonical path. Where two
// windows share the workspace it follows the one with the lower address, as
// long as that lives.
func (r *Registry) Source(workspace string) *Source {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sources[workspace]
	if s == nil {
		s = &Source{workspace: workspace, changed: make(chan struct{})}
		r.sources[workspace] = s
		s.update(r.entries)
	}
	return s
}

// Browser returns the workspace's browser now, nil if it has none, and a channel
// that is closed when that is no longer true.
func (s *Source) Browser() (*cdpproxy.Browser, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.browser, s.changed
}

// Wait returns when a window on the workspace is there.
func (s *Source) Wait(ctx context.Context) error {
	for {
		s.mu.Lock()
		there, changed := s.window, s.changed
		s.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// update takes what is true now. The registry's mutex is held.
func (s *Source) update(entries map[vscodeipc.Address]*entry) {
	var window *Window
	for a, e := range entries {
		if e.window != nil && e.window.Workspace == s.workspace && (window == nil || a < window.Address) {
			window = e.window
		}
	}
	var session string
	var browser *vscodeipc.Browser
	if window != nil {
		browser = window.State.Browser
	}
	if browser != nil {
		session = window.Session + " " + browser.DebugSession
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	sameBrowser := browser == nil && s.browser == nil ||
		browser != nil && s.browser != nil && browser.URL == s.browser.URL && session == s.session
	if sameBrowser && s.window == (window != nil) {
		return
	}
	s.window = window != nil
	if !sameBrowser {
		s.session, s.browser = session, nil
		if browser != nil {
			s.generation++
			s.browser = &cdpproxy.Browser{Generation: s.generation, Name: nameOf(window, browser), URL: browser.URL}
		}
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// nameOf is what people read for a browser.
func nameOf(window *Window, browser *vscodeipc.Browser) string {
	for _, d := range window.State.DebugSessions {
		if d.ID == browser.DebugSession && d.Name != "" {
			return d.Name
		}
	}
	if browser.Product != "" {
		return browser.Product
	}
	return window.Title()
}
