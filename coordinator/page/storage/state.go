package storage

import (
	"context"
	"fmt"
	"slices"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/page/address"
)

// State is the cookies and local storage of a browser context, in the
// format of Playwright's storage state files.
type State struct {
	Cookies []Cookie `json:"cookies"`
	Origins []Origin `json:"origins"`
}

// Origin is the stored data of an origin.
type Origin struct {
	Origin       string `json:"origin"` // for example http://localhost:3000
	LocalStorage []Item `json:"localStorage"`
}

// State reads the cookies of the page's browser context, and the local storage of known
// origins, except for those that skip selects. Known are the origins of its open pages and
// those that this page and its frames have shown; the browser has no complete list.
func (s *Storage) State(ctx context.Context, skip func(origin string) bool) (State, error) {
	state := State{Cookies: []Cookie{}, Origins: []Origin{}}
	err := s.opts.Run(ctx, "reading the storage state", s.opts.StateTimeout, func(ctx context.Context) error {
		cookies, err := s.Cookies(ctx)
		if err != nil {
			return err
		}
		state.Cookies = append(state.Cookies, cookies...)
		info, origins, err := s.knownOrigins(ctx)
		if err != nil {
			return err
		}
		slices.Sort(origins)
		origins = slices.DeleteFunc(slices.Compact(origins), skip)
		return s.inOrigins(ctx, info.BrowserContextID, origins, func(origin string, call itemsCall) error {
			stored := Origin{Origin: origin}
			if err := call(map[string]any{"area": Local, "action": "list"}, &stored.LocalStorage); err != nil {
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

// SetState replaces the cookies of the page's browser context, and the
// local storage of the origins that are known or in the state.
func (s *Storage) SetState(ctx context.Context, state State) error {
	return s.opts.Run(ctx, "restoring the storage state", s.opts.StateTimeout, func(ctx context.Context) error {
		info, origins, err := s.knownOrigins(ctx)
		if err != nil {
			return err
		}
		wanted := map[string][]Item{}
		for _, o := range state.Origins {
			if address.Origin(o.Origin) != o.Origin {
				return fmt.Errorf("%q is no origin: want for example http://localhost:3000", o.Origin)
			}
			wanted[o.Origin] = o.LocalStorage
			origins = append(origins, o.Origin)
		}
		if err := s.ClearCookies(ctx); err != nil {
			return err
		}
		if err := s.SetCookies(ctx, state.Cookies...); err != nil {
			return err
		}
		return s.inOrigins(ctx, info.BrowserContextID, origins, func(origin string, call itemsCall) error {
			return call(map[string]any{"area": Local, "action": "replace", "items": wanted[origin]}, nil)
		})
	})
}

// knownOrigins collects the origins of open pages and frames, and of the documents that the
// page has shown.
func (s *Storage) knownOrigins(ctx context.Context) (*target.Info, []string, error) {
	self, err := protocol.Call(ctx, s.opts.Conn, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: s.opts.ID})
	if err != nil {
		return nil, nil, err
	}
	all, err := protocol.Call(ctx, s.opts.Conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, nil, err
	}
	urls := s.opts.Network.DocumentURLs() // what the page and its frames show or have shown
	for _, f := range s.opts.Frames.All() {
		urls = append(urls, f.URL)
	}
	for _, t := range all.TargetInfos {
		if t.BrowserContextID == self.TargetInfo.BrowserContextID &&
			(t.Type == "page" && t.Subtype == "" || t.Type == "iframe") {
			urls = append(urls, t.URL)
		}
	}
	var origins []string
	for _, u := range urls {
		if origin := address.Origin(u); origin != "" {
			origins = append(origins, origin)
		}
	}
	return self.TargetInfo, origins, nil
}

// itemsCall calls itemsFunction in a document of an origin.
type itemsCall func(argument map[string]any, result any) error

// inOrigins visits each origin once: the page's own in the page itself, the
// others in a hidden page.
func (s *Storage) inOrigins(
	ctx context.Context, in protocol.BrowserContextID, origins []string, visit func(string, itemsCall) error,
) error {
	slices.Sort(origins)
	origins = slices.Compact(origins)
	current := address.Origin(s.opts.Frames.PageURL())
	var hidden *hiddenPage
	for _, origin := range origins {
		call := func(argument map[string]any, result any) error {
			argument["origin"] = origin
			return s.call(ctx, argument, result)
		}
		if origin != current {
			if hidden == nil {
				var err error
				if hidden, err = s.openHidden(ctx, in); err != nil {
					return fmt.Errorf("open a page for other origins: %w", err)
				}
				defer hidden.close()
			}
			if err := hidden.visit(ctx, origin); err != nil {
				return fmt.Errorf("visit %s: %w", origin, err)
			}
			call = func(argument map[string]any, result any) error {
				argument["origin"] = origin
				return hidden.callFunction(ctx, itemsFunction, argument, result)
			}
		}
		if err := visit(origin, call); err != nil {
			return fmt.Errorf("the local storage of %s: %w", origin, err)
		}
	}
	return nil
}
