package access

import (
	"path"
	"slices"
	"strings"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/strictjson"
)

// Hold is what a client has the browser hold up for it, until it decides.
type Hold int

const (
	HoldsRequests Hold = iota + 1 // Fetch.enable: it may also answer or fail them
	HoldsTabs                     // Target.setAutoAttach with waitForDebuggerOnStart: those that open
)

// held is a hold of a client by one of its sessions.
type held struct {
	hold    Hold
	session string
}

// page is the page that the client's own connection is to; empty: to the browser, and which page one of
// its sessions is of only the browser's events tell.
func (h held) page(c *cdpproxy.Client) string {
	if dir, id := path.Split(c.Path); h.session == "" && h.hold == HoldsRequests && strings.HasSuffix(dir, "/page/") {
		return id
	}
	return ""
}

// ClientHold is a hold of a client on a page of a browser; Page is empty: on any of its pages.
type ClientHold struct {
	Client        *cdpproxy.Client
	Browser, Page string // ids
	Hold          Hold
}

// noteHold notes what a command that was sent to the browser holds up, or ends.
func (r *Rule) noteHold(c *cdpproxy.Client, m *browser.Message) {
	hold, holds := HoldsRequests, m.Method == "Fetch.enable"
	switch m.Method {
	case "Fetch.enable", "Fetch.disable":
	case "Target.setAutoAttach":
		hold = HoldsTabs
		holds = isTrue(m.Params, "autoAttach") && isTrue(m.Params, "waitForDebuggerOnStart")
	default:
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	client := r.clients[c.ID]
	if client == nil {
		return
	}
	h := held{hold, m.Session}
	has := slices.Contains(client.holds, h)
	switch {
	case holds == has:
		return
	case holds:
		client.holds = append(client.holds, h)
	default:
		client.holds = slices.DeleteFunc(client.holds, func(other held) bool { return other == h })
	}
	r.changed.Notify()
}

// isTrue reports whether a parameter is true, which the policy has read.
func isTrue(params []byte, name string) (is bool) {
	_ = strictjson.Members(params, func(key string, value []byte) error {
		if key == name {
			is = string(value) == "true"
		}
		return nil
	})
	return is
}

// Holds are those of all clients. Their channel is that of Clients.
func (r *Rule) Holds() (all []ClientHold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, client := range r.clients {
		for _, h := range client.holds {
			hold := ClientHold{client.client, client.client.BrowserID(), h.page(client.client), h.hold}
			if !slices.Contains(all, hold) {
				all = append(all, hold)
			}
		}
	}
	return all
}
