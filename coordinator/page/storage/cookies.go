package storage

import (
	"cmp"
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
)

// Cookie is one cookie of the page's browser context, of any site. Its JSON has the
// format of Playwright's storage state.
type Cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain"` // with a leading dot: subdomains too
	Path     string  `json:"path"`
	Expires  float64 `json:"expires"` // seconds since the epoch; -1: with the browser session
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite"` // Strict, Lax or None; Lax if the cookie has none
	// PartitionKey is the site of the page around a partitioned cookie.
	PartitionKey string `json:"partitionKey,omitempty"`
	CrossSite    *bool  `json:"_crHasCrossSiteAncestor,omitempty"` // of the partition
}

// Cookies returns all cookies of the page's browser context.
func (s *Storage) Cookies(ctx context.Context) ([]Cookie, error) {
	var r storage.GetCookiesResult
	err := s.opts.Run(ctx, "reading the cookies", 0, func(ctx context.Context) (err error) {
		// The page's session selects the page's browser context.
		r, err = protocol.Call(ctx, s.opts.Session, storage.GetCookies, storage.GetCookiesParams{})
		return err
	})
	if err != nil {
		return nil, err
	}
	cookies := make([]Cookie, len(r.Cookies))
	for i, c := range r.Cookies {
		cookies[i] = Cookie{
			Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: c.Expires,
			HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: cmp.Or(string(c.SameSite), "Lax"),
		}
		if key := c.PartitionKey; key != nil {
			cookies[i].PartitionKey, cookies[i].CrossSite = key.TopLevelSite, &key.HasCrossSiteAncestor
		}
	}
	return cookies, nil
}

// SetCookies adds cookies, or replaces those of the same name, domain and path.
func (s *Storage) SetCookies(ctx context.Context, cookies ...Cookie) error {
	if len(cookies) == 0 {
		return nil
	}
	params := make([]*network.CookieParam, len(cookies))
	for i, c := range cookies {
		params[i] = &network.CookieParam{
			Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path,
			HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: network.CookieSameSite(c.SameSite),
			PartitionKey: c.partition(),
		}
		if c.Expires > 0 {
			params[i].Expires = protocol.TimeSinceEpoch(c.Expires)
		}
	}
	return s.opts.Run(ctx, "setting cookies", 0, func(ctx context.Context) error {
		_, err := protocol.Call(ctx, s.opts.Session, storage.SetCookies, storage.SetCookiesParams{Cookies: params})
		return err
	})
}

func (c *Cookie) partition() *network.CookiePartitionKey {
	if c.PartitionKey == "" {
		return nil
	}
	return &network.CookiePartitionKey{
		TopLevelSite: c.PartitionKey, HasCrossSiteAncestor: c.CrossSite == nil || *c.CrossSite,
	}
}

// DeleteCookies deletes the cookies with that name, of all sites, and returns
// them.
func (s *Storage) DeleteCookies(ctx context.Context, name string) ([]Cookie, error) {
	var deleted []Cookie
	err := s.opts.Run(ctx, "deleting a cookie", 0, func(ctx context.Context) error {
		cookies, err := s.Cookies(ctx)
		for _, c := range cookies {
			if c.Name != name {
				continue
			}
			_, err := protocol.Call(ctx, s.opts.Session, network.DeleteCookies, network.DeleteCookiesParams{
				Name: name, Domain: c.Domain, Path: c.Path, PartitionKey: c.partition(),
			})
			if err != nil {
				return err
			}
			deleted = append(deleted, c)
		}
		return err
	})
	return deleted, err
}

// ClearCookies deletes all cookies of the page's browser context.
func (s *Storage) ClearCookies(ctx context.Context) error {
	return s.opts.Run(ctx, "clearing the cookies", 0, func(ctx context.Context) error {
		_, err := protocol.Call(ctx, s.opts.Session, storage.ClearCookies, storage.ClearCookiesParams{})
		return err
	})
}
