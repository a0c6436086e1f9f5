package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
)

// meetOthers notifies the agent of what other agents and CDP clients have set in a page and in its
// browser, once for each page.
func (c *Call) meetOthers(ctx context.Context, p *page.Page) {
	if sentence := p.PermissionReplaced(ctx); sentence != "" {
		c.notify(sentence)
	}
	others := append(c.owner.Others(p.ID()), c.owner.Others(claim.Browser(p.BrowserID()))...)
	c.mu.Lock()
	known := c.met[p.ID()]
	if len(others) == 0 {
		delete(c.met, p.ID())
	} else {
		c.met[p.ID()] = others
	}
	c.mu.Unlock()
	for _, other := range others {
		if !slices.Contains(known, other) {
			c.notify(capitalize(other) + ".")
		}
	}
}

// nameHolds adds to an error of a page that did not answer in time which clients hold up its browser.
func (c *Call) nameHolds(err error) error {
	p := c.effect.page
	late := errors.As(err, new(*page.TimeoutError)) || errors.As(err, new(*page.HungError)) ||
		errors.As(err, new(*page.LeavingError))
	if c.in == nil || !late {
		return err
	}
	id := c.in.browser.ID()
	holds := append(c.owner.Others(claim.Holds(id)), c.owner.Others(claim.Browser(id))...)
	if p != nil {
		holds = append(holds, c.owner.Others(p.ID())...)
	}
	if len(holds) == 0 {
		return err
	}
	return fmt.Errorf("%w. It may be held up: %s. The user can disconnect a client in the window's list of clients", err,
		strings.Join(holds, "; "))
}

func capitalize(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
