package tools

import (
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/guard"
	"context"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/policy"
)

// checkOrigin refuses an address, as a browser has parsed it, outside the agent's
// origins.
func (a *agent) checkOrigin(address string) error {
	return originError(address, a.server.options.Origins.Decide(address))
}

// checkTyped is checkOrigin for an address that no browser has parsed yet. mayShow checks
// the address of a file.
func (a *agent) checkTyped(url string) error {
	if address.OfFile(url) != "" {
		return nil
	}
	return originError(url, a.server.options.Origins.DecideTyped(url))
}

func originError(address string, d policy.Decision) error {
	if d.Outcome == policy.Allow {
		return nil
	}
	return &guard.OriginError{URL: address, Reason: d.Denied.Reason}
}

// mayShow refuses an address that would end the browser. It also refuses a file that the
// agent may not read: one that it could not read itself, and that is outside the folders
// of the page's window.
func (a *agent) mayShow(ctx context.Context, folders []string, url string) error {
	if err := policy.CheckAddress(url); err != nil {
		return err
	}
	url = address.OfFile(url)
	if url == "" {
		return nil
	}
	file, ok := filePath(url)
	if !ok {
		return fmt.Errorf("%s is no file's url", url)
	}
	_, err := a.allowedFile(ctx, file, folders...)
	return err
}

// mayLook refuses a page if one of its frames shows what the agent may not read.
func (a *agent) mayLook(ctx context.Context, p *page.Page) error {
	addresses := p.Addresses()
	err := a.checkOrigin(addresses[0])
	for _, address := range addresses {
		if err == nil {
			err = a.mayShow(ctx, p.Folders(), address)
		}
	}
	if err != nil {
		return fmt.Errorf("this tab is out of bounds: %w. Navigate or reload it, or choose another", err)
	}
	return nil
}

// bind limits a page to the allowed origins, where some are configured, and to the
// allowed files where the page could request any file. A server's page cannot request
// files and must not be slowed down by the check. The page is about to open the address,
// unless that is empty.
func (a *agent) bind(ctx context.Context, p *page.Page, url string) error {
	var bounds guard.Bounds
	if a.server.options.Origins != nil {
		bounds.Open = a.checkOrigin
	}
	shown := p.URL()
	server := strings.HasPrefix(shown, "http://") || strings.HasPrefix(shown, "https://")
	if address.OfFile(url) != "" || address.OfFile(shown) != "" || !server && p.Opened() {
		bounds.File = func(url string) error { return a.mayShow(context.WithoutCancel(ctx), p.Folders(), url) }
	}
	if bounds.Open == nil && bounds.File == nil {
		return nil
	}
	return p.Guard().Limit(ctx, bounds)
}

// addressed is something of a page's history or storage. All of its addresses must be
// within the agent's origins. Of alternatives, such as a cookie's, one must be.
type addressed interface{ Addresses() []string }

// within leaves out items of origins that the agent may not read, and counts them. A tab
// may have shown such a document before the agent worked in it. Every such item in an
// answer passes through here.
func within[T any](o *policy.Origins, all []T) (kept []T, refused int) {
	if o == nil {
		return all, 0
	}
	for _, one := range all {
		if allowed(o, one) {
			kept = append(kept, one)
		}
	}
	return kept, len(all) - len(kept)
}

func allowed(o *policy.Origins, one any) bool {
	switch one := one.(type) {
	case storage.Cookie:
		return o.DecideCookie(one.Domain, one.Secure).Outcome == policy.Allow
	case addressed:
		for _, address := range one.Addresses() {
			if o.Decide(address).Outcome != policy.Allow {
				return false
			}
		}
		return true
	}
	return false
}

// leftOut reports how many items within left out.
func (a *answer) leftOut(refused int, what string) {
	if text := leftOutText(refused, what); text != "" {
		a.addf("%s", strings.TrimSpace(text))
	}
}

func leftOutText(refused int, what string) string {
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("Left out because of --allowed-origins or --blocked-origins: %d %s.\n", refused, what)
}
