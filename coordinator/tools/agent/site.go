package agent

import (
	"context"
	"fmt"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/policy"
)

// siteFor is the site on which the user can allow more such calls; empty: on none. elements are those
// of the call that are there already.
func (c *Call) siteFor(ctx context.Context, p *page.Page, elements []input.Element) string {
	r := &c.Request
	if r.Local || r.Beyond != nil && r.Beyond(ctx, p) || r.AnyFrame && !p.IsOnOneSite() {
		return ""
	}
	return p.Origin(ctx, elements...)
}

// ConfirmSite refuses a page that has gone to another place since the call was allowed. If what the
// user has allowed is on one site, it refuses elements of other sites too.
func (c *Call) ConfirmSite(ctx context.Context, p *page.Page, elements ...input.Element) error {
	asked := c.permission.question
	if asked.place == "" {
		return nil
	}
	if now := p.Place(); now != asked.place {
		return &movedPageError{asked.place, now}
	}
	if asked.site != "" && c.siteFor(ctx, p, elements) != asked.site {
		return &otherSiteError{asked.site}
	}
	return nil
}

// Bounds are where a script of the call may run in a page.
func (c *Call) Bounds(ctx context.Context, p *page.Page) page.Bounds {
	return page.Bounds{Place: c.permission.question.place, Confirm: func(element input.Element) error {
		return c.ConfirmSite(ctx, p, element)
	}}
}

// movedPageError reports that the page is at another place than when the call was allowed.
type movedPageError struct{ approved, actual string }

func (e *movedPageError) Error() string {
	return fmt.Sprintf("the page has gone from %s to %s since this call was allowed, so nothing was done there: call "+
		"again to ask about that", policy.Excerpt(e.approved, longestText), policy.Excerpt(e.actual, longestText))
}

// otherSiteError reports that a call would act on another site than the one on which it was allowed.
type otherSiteError struct{ approved string }

func (e *otherSiteError) Error() string {
	return fmt.Sprintf("this call was allowed on %s, and what it acts on is of another site, or of none, so nothing "+
		"was done to it: call again to ask about that", e.approved)
}
