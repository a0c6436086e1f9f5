package serving

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/claim"
)

// holds tell the agents of this user what the endpoint's clients hold up in a browser.
type holds struct {
	claims *claim.Pages // nil: no agent is told
	log    *slog.Logger
	owners map[string]*claim.Owner // the clients that hold something, by id
}

// sentence is what an agent is told of a hold, after the client's name.
var sentence = map[access.Hold]string{
	access.HoldsRequests: "pauses requests, and may answer or fail them (Fetch.enable)",
	access.HoldsTabs:     "has each new tab wait until it lets that go on (Target.setAutoAttach)",
}

// place is on what a hold is set. Clients commonly have tabs wait, for a moment, so only an answer that is
// late names that.
func place(h access.ClientHold) string {
	if h.Hold == access.HoldsTabs {
		return claim.Holds(h.Browser)
	}
	return cmp.Or(h.Page, claim.Browser(h.Browser))
}

// heldBy is what a client holds up, in the words of an agent's answer; empty: nothing.
func heldBy(c *cdpproxy.Client, all []access.ClientHold) string {
	var sentences []string
	for _, h := range all {
		if text := sentence[h.Hold]; h.Client == c && !slices.Contains(sentences, text) {
			sentences = append(sentences, text)
		}
	}
	return strings.Join(sentences, ", and ")
}

// publish publishes the holds, and ends those that were.
func (h *holds) publish(all []access.ClientHold) {
	if h.claims == nil {
		return
	}
	former := h.owners
	h.owners = map[string]*claim.Owner{}
	set := map[string]map[[2]string]bool{}
	for _, hold := range all {
		id := hold.Client.ID
		owner := cmp.Or(h.owners[id], former[id])
		if owner == nil {
			owner = h.claims.Owner(id, "the CDP client "+hold.Client.Name)
		}
		h.owners[id] = owner
		thing, text := place(hold), sentence[hold.Hold]
		if set[id] == nil {
			set[id] = map[[2]string]bool{}
		}
		set[id][[2]string{thing, text}] = true
		if err := owner.Set(thing, text, text); err != nil {
			h.log.Warn("agents are not told what a CDP client holds up", "client", hold.Client.Name, "error", err)
		}
	}
	for id, owner := range former {
		owner.Keep(func(thing, kind string) bool { return set[id][[2]string{thing, kind}] })
	}
}
