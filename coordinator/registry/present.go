package registry

import (
	"browser-coordinator/cdpproxy/virtual"
	"browser-coordinator/vscodeipc"
)

// presented is the virtual browser over the pages of a window whose debug browser has no
// reachable port (adr/0015).
type presented struct {
	session string // debug session of the pages
	browser *virtual.Browser
}

// Browser returns the window's browser: its own, or a virtual browser over the pages of
// its shared debug session; nil if it has neither.
func (w Window) Browser() *vscodeipc.Browser {
	if w.State.Browser != nil || w.presented == nil {
		return w.State.Browser
	}
	return &vscodeipc.Browser{URL: w.presented.browser.URL(), DebugSession: w.presented.session, Via: "pages"}
}

// prepare makes the virtual browser that present needs for a state. It opens a listener, so
// r.mu is not held.
func (r *Registry) prepare(e *entry, state vscodeipc.State) {
	session, _ := newestPages(state)
	isReady := func() bool {
		return session == "" || r.entries[e.address] != e || e.presented != nil && e.presented.session == session
	}
	r.mu.Lock()
	ready := isReady()
	r.mu.Unlock()
	if ready {
		return
	}
	browser, err := virtual.New(r.log)
	if err != nil {
		r.log.Warn("the pages of a debug session cannot be presented as a browser", "error", err)
		return
	}
	made := &presented{session, browser}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !isReady() {
		made, e.presented = e.presented, made
	}
	r.dismiss(made)
}

// present keeps an entry's presented browser in step with its window. One browser serves
// all pages of a debug session; the next session has another. r.mu is held.
func (r *Registry) present(e *entry) {
	var session string
	var pages []virtual.Page
	if e.window != nil {
		session, pages = newestPages(e.window.State)
	}
	if e.presented == nil {
		return
	}
	if e.presented.session != session {
		r.dismiss(e.presented)
		e.presented = nil
		return
	}
	e.presented.browser.SetPages(pages)
	e.window.presented = e.presented
}

// dismiss ends a presented browser, if there is one, and its clients' connections. r.mu is
// held.
func (r *Registry) dismiss(p *presented) {
	if p != nil {
		r.running.Go(p.browser.Close)
	}
}

// newestPages returns the pages of the newest debug session that has some: the one that
// the user sees. The extension chooses a browser in the same way. A window with a browser
// needs none of them.
func newestPages(state vscodeipc.State) (session string, pages []virtual.Page) {
	if state.Browser != nil {
		return "", nil
	}
	parents := map[string]string{}
	for _, d := range state.DebugSessions {
		parents[d.ID] = d.Parent
	}
	root := func(id string) string {
		for range parents { // at most one step per session
			if parents[id] == "" {
				break
			}
			id = parents[id]
		}
		return id
	}
	shared := map[string]bool{}
	for _, p := range state.Pages {
		shared[p.DebugSession] = true
	}
	for _, d := range state.DebugSessions {
		if shared[d.ID] {
			session = root(d.ID)
		}
	}
	for _, p := range state.Pages {
		if root(p.DebugSession) != session {
			continue
		}
		page := virtual.Page{Key: p.DebugSession, URL: p.URL}
		if parent := parents[p.DebugSession]; shared[parent] {
			page.Parent = parent
		}
		pages = append(pages, page)
	}
	return session, pages
}
