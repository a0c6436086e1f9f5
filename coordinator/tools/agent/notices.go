package agent

import (
	"fmt"
	"sync"

	"browser-coordinator/coordinator/page"
)

// notices are what an agent gets to know with its next answer, each once.
type notices struct {
	mu         sync.Mutex
	next       string // about its tab
	own        bool   // the agent knows that the browser is our own
	passedOver string // the window that opened too late
	knowsOver  bool   // the agent knows of it
}

// notice is the notice of an answer; empty: there is none.
func (a *Agent) notice() string {
	own, n := a.browsers.haveOwn(), &a.notices
	n.mu.Lock()
	defer n.mu.Unlock()
	next := n.next
	n.next = ""
	switch {
	case next != "":
		return next
	case own && !n.own:
		n.own = true
		where := ""
		if provider := a.Launcher.Provider(); provider != "" {
			where = ", of " + provider
		}
		return "No VS Code window fits this workspace, so this is a browser of its own" + where + ", ended with this session."
	case own && n.passedOver != "" && !n.knowsOver:
		n.knowsOver = true
		return fmt.Sprintf("The window %s fits this workspace now. You stay in the browser of your own, where you have acted; pass that window as window to work there.", n.passedOver)
	}
	return ""
}

func (n *notices) setNext(notice string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next = notice
}

func (n *notices) handedOver(opener *page.Info) {
	n.setNext(fmt.Sprintf("The tab that you worked in has closed; you work in tab %d now, which opened it. ", opener.Index))
}

func (n *notices) passOver(window string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.passedOver = window
}
