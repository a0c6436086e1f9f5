package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
)

// meetOthers notifies the agent of what other agents and CDP clients have set in a page and in its
// browser, once for each page.
func (c *Call) meetOthers(ctx context.Context, p *page.Page) {
	if sentence := p.PermissionReplaced(ctx); sentence != "" {
		c.Agent.notify(sentence)
	}
	others := append(c.Agent.owner.Others(p.ID()), c.Agent.owner.Others(claim.Browser(p.BrowserID()))...)
	c.Agent.mu.Lock()
	known := c.Agent.met[p.ID()]
	if len(others) == 0 {
		delete(c.Agent.met, p.ID())
	} else {
		c.Agent.met[p.ID()] = others
	}
	c.Agent.mu.Unlock()
	for _, other := range others {
		if !slices.Contains(known, other) {
			c.Agent.notify(capitalize(other) + ".")
		}
	}
}

// nameHolds adds to an error of a page that did not answer in time which clients hold up its browser.
func (c *Call) nameHolds(err error) error {
	p := c.effect.page
	if c.in == nil || !isLate(err) {
		return err
	}
	id := c.in.browser.ID()
	holds := append(c.Agent.owner.Others(claim.Holds(id)), c.Agent.owner.Others(claim.Browser(id))...)
	if p != nil {
		holds = append(holds, c.Agent.owner.Others(p.ID())...)
	}
	if len(holds) == 0 {
		return err
	}
	holder := strings.Join(holds, "; ")
	if leaving, ok := errors.AsType[*page.LeavingError](err); ok {
		leaving.Holder = holder // it is of this call alone
		return fmt.Errorf("%w. %s", err, disconnect)
	}
	return fmt.Errorf("%w. It may be held up: %s. %s", err, holder, disconnect)
}

const disconnect = "The user can disconnect a client in the window's list of clients"

// addHolds answers with who may hold up what the page still waits for.
func (c *Call) addHolds() {
	change := c.effect.change
	if p := c.effect.page; p != nil && (change.Loading != "" || len(change.Waiting) > 0) {
		holds := append(c.Agent.owner.Others(claim.Browser(p.BrowserID())), c.Agent.owner.Others(p.ID())...)
		if len(holds) > 0 {
			c.Out.Addf("That may be held up: %s. %s.", strings.Join(holds, "; "), disconnect)
		}
	}
}

// isLate reports whether an error is that of a page, or a browser, that did not answer in time.
func isLate(err error) bool {
	return errors.Is(err, cdp.ErrTimeout) || errors.As(err, new(*page.TimeoutError)) || errors.As(err, new(*page.HungError)) ||
		errors.As(err, new(*page.LeavingError))
}

func capitalize(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
