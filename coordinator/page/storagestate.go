package page

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
)

// StorageState is the cookies and local storage of a browser context, in the
// form of Playwright's storage state files.
type StorageState struct {
	Cookies []Cookie        `json:"cookies"`
	Origins []OriginStorage `json:"origins"`
}

// OriginStorage is what an origin has stored.
type OriginStorage struct {
	Origin       string `json:"origin"` // for example http://localhost:3000
	LocalStorage []Item `json:"localStorage"`
}

// StorageState reads the cookies of the page's browser context, and the local
// storage of the origins that are known: those of its open pages, and those
// that this page and its frames have shown, but for those that skip names. The browser
// has no list of all.
func (p *Page) StorageState(ctx context.Context, skip func(origin string) bool) (StorageState, error) {
	state := StorageState{Cookies: []Cookie{}, Origins: []OriginStorage{}}
	err := p.during(ctx, "reading the storage state", p.browser.opts.NavigateTimeout, func(ctx context.Context) error {
		cookies, err := p.cookies(ctx)
		if err != nil {
			return err
		}
		state.Cookies = append(state.Cookies, cookies...)
		info, origins, err := p.knownOrigins(ctx)
		if err != nil {
			return err
		}
		slices.Sort(origins)
		origins = slices.DeleteFunc(slices.Compact(origins), skip)
		return p.inOrigins(ctx, info.BrowserContextID, origins, func(origin string, call storageCall) error {
			stored := OriginStorage{Origin: origin}
			if err := call(map[string]any{"area": LocalStorage, "action": "list"}, &stored.LocalStorage); err != nil {
				return err
			}
			if len(stored.LocalStorage) > 0 {
				state.Origins = append(state.Origins, stored)
			}
			return nil
		})
	})
	return state, err
}

// SetStorageState replaces the cookies of the page's browser context, and the
// local storage of the origins that are known or in the state.
func (p *Page) SetStorageState(ctx context.Context, state StorageState) error {
	return p.during(ctx, "restoring the storage state", p.browser.opts.NavigateTimeout, func(ctx context.Context) error {
		info, origins, err := p.knownOrigins(ctx)
		if err != nil {
			return err
		}
		wanted := map[string][]Item{}
		for _, o := range state.Origins {
			if originOf(o.Origin) != o.Origin {
				return fmt.Errorf("%q is no origin: want for example http://localhost:3000", o.Origin)
			}
			wanted[o.Origin] = o.LocalStorage
			origins = append(origins, o.Origin)
		}
		if err := p.clearCookies(ctx); err != nil {
			return err
		}
		if err := p.setCookies(ctx, state.Cookies); err != nil {
			return err
		}
		return p.inOrigins(ctx, info.BrowserContextID, origins, func(origin string, call storageCall) error {
			return call(map[string]any{"area": LocalStorage, "action": "replace", "items": wanted[origin]}, nil)
		})
	})
}

// knownOrigins gathers them from the pages and frames that are open, and from
// the page's history and documents.
func (p *Page) knownOrigins(ctx context.Context) (*target.Info, []string, error) {
	self, err := protocol.Call(ctx, p.browser.conn, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: p.id})
	if err != nil {
		return nil, nil, err
	}
	all, err := protocol.Call(ctx, p.browser.conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, nil, err
	}
	history, err := protocol.Call(ctx, p.session, cdppage.GetNavigationHistory, protocol.Empty{})
	if err != nil {
		return nil, nil, err
	}
	var urls []string
	for _, t := range all.TargetInfos {
		if t.BrowserContextID == self.TargetInfo.BrowserContextID && (isPage(t) || t.Type == "iframe") {
			urls = append(urls, t.URL)
		}
	}
	for _, e := range history.Entries {
		urls = append(urls, e.URL)
	}
	p.mu.Lock()
	for _, f := range p.frames {
		urls = append(urls, f.url)
	}
	for _, e := range p.requests.entries {
		if e.Type == "document" {
			urls = append(urls, e.URL)
		}
	}
	p.mu.Unlock()
	var origins []string
	for _, u := range urls {
		if origin := originOf(u); origin != "" {
			origins = append(origins, origin)
		}
	}
	return self.TargetInfo, origins, nil
}

// originOf is the origin of a web address, empty for any other.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	if u.Port() == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		u.Host = u.Hostname()
	}
	return u.Scheme + "://" + u.Host
}

// storageCall runs extra/storage.js in a document of an origin.
type storageCall func(argument map[string]any, result any) error

// inOrigins visits each origin once: the page's own in the page itself, the
// others in a page that nobody sees.
func (p *Page) inOrigins(ctx context.Context, in protocol.BrowserContextID, origins []string, visit func(string, storageCall) error) error {
	slices.Sort(origins)
	origins = slices.Compact(origins)
	here := originOf(p.URL())
	var hidden *hiddenPage
	for _, origin := range origins {
		call := func(argument map[string]any, result any) error {
			argument["origin"] = origin
			return p.callExtra(ctx, p.mainID(), "storage", argument, result)
		}
		if origin != here {
			if hidden == nil {
				var err error
				if hidden, err = p.browser.openHidden(ctx, in); err != nil {
					return fmt.Errorf("open a page for other origins: %w", err)
				}
				defer hidden.close()
			}
			if err := hidden.visit(ctx, origin); err != nil {
				return fmt.Errorf("visit %s: %w", origin, err)
			}
			call = func(argument map[string]any, result any) error {
				argument["origin"] = origin
				return hidden.callExtra(ctx, "storage", argument, result)
			}
		}
		if err := visit(origin, call); err != nil {
			return fmt.Errorf("the local storage of %s: %w", origin, err)
		}
	}
	return nil
}
