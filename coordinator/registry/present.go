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

// present keeps an entry's presented browser in step with its window. One browser serves
// all pages of a debug session; the next session has another. r.mu is held.
func (r *Registry) present(e *entry) {
	w := e.window
	var session string
	var pages []virtual.Page
	if w != nil && w.State.Browser == nil {
		session, pages = newestPages(w.State)
	}
	if e.presented != nil && (session == "" || e.presented.session != session) {
		r.running.Add(1)
		go r.dismiss(e.presented)
		e.presented = nil
	}
	if session == "" {
		return
	}
	if e.presented == nil {
		browser, err := virtual.New(r.log)
		if err != nil {
			r.log.Warn("the pages of a debug session cannot be presented as a browser", "error", err)
			return
		}
		e.presented = &presented{session, browser}
	}
	e.presented.browser.SetPages(pages)
	w.presented = e.presented
}

// dismiss ends a presented browser, and its clients' connections.
func (r *Registry) dismiss(p *presented) {
	defer r.running.Done()
	p.browser.Close()
}

// newestPages returns the pages of the newest debug session that has some: the one that
// the user sees. The extension chooses a browser in the same way.
func newestPages(state vscodeipc.State) (session string, pages []virtual.Page) {
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
