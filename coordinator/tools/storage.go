package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
)

// defineStorage defines a tool of the set storage.
func defineStorage[In any](t Tool, do func(context.Context, *agent.Call, *page.Page, In) error) *Tool {
	t.Set = "storage"
	does := calls[In]{Do: onPage(do)}
	if t.Effect == Acts {
		t.Category, does.Beyond = policy.Storage, everySite
	}
	return define(t, does)
}

type cookieListIn struct {
	Domain string `json:"domain,omitempty" about:"only of domains with this in them"`
	Path   string `json:"path,omitempty" about:"only of paths that begin so"`
	inPage
}

type cookieNameIn struct {
	Name string `json:"name" is:"subject"`
	inPage
}

type cookieSetIn struct {
	Name     string  `json:"name" is:"subject"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain,omitempty" about:"default: the page's host; with a dot in front subdomains too"`
	Path     string  `json:"path,omitempty" about:"default: /"`
	Expires  float64 `json:"expires,omitempty" about:"seconds since 1970; without it the cookie ends with the browser"`
	HTTPOnly bool    `json:"httpOnly,omitempty"`
	Secure   bool    `json:"secure,omitempty"`
	SameSite string  `json:"sameSite,omitempty" oneof:"Strict Lax None"`
	inPage
}

var _ = []*Tool{
	defineStorage(Tool{
		Name: "browser_cookie_list", Title: "List cookies", Description: "List the browser's cookies", Effect: Reads,
		Returns: "the cookies of every site in the browser context; long values shortened",
		Data:    "`cookies`, as in a storage state", Example: `{}`,
	}, cookieList),
	defineStorage(Tool{
		Name: "browser_cookie_get", Title: "Get a cookie", Description: "The cookies of a name in full", Effect: Reads,
		Data: "`cookies`, as in a storage state", Example: `{"name": "sid"}`,
	}, cookieGet),
	defineStorage(Tool{
		Name: "browser_cookie_set", Title: "Set a cookie", Description: "Set a cookie", Effect: Acts,
		Example: `{"name": "theme", "value": "dark"}`,
	}, cookieSet),
	defineStorage(Tool{
		Name: "browser_cookie_delete", Title: "Delete a cookie", Description: "Delete the cookies of a name",
		Effect:  Acts,
		Example: `{"name": "sid"}`,
	}, cookieDelete),
	defineStorage(Tool{
		Name: "browser_cookie_clear", Title: "Clear cookies", Description: "Delete all cookies, of every site",
		Effect:  Acts,
		Example: `{}`,
	}, cookieClear),
}

// cookies are those that the agent may read, and that are wanted. It reports how many it
// left out.
func cookies(ctx context.Context, c *agent.Call, p *page.Page, wanted func(storage.Cookie) bool) ([]storage.Cookie,
	error) {
	all, err := p.Storage().Cookies(ctx)
	if err != nil {
		return nil, err
	}
	all, refused := answer.Readable(c.Agent.Origins, all)
	c.Out.LeftOut(refused, "cookies")
	return slices.DeleteFunc(all, func(cookie storage.Cookie) bool { return !wanted(cookie) }), nil
}

func cookieList(ctx context.Context, c *agent.Call, p *page.Page, in cookieListIn) error {
	list, err := cookies(ctx, c, p, func(cookie storage.Cookie) bool {
		return strings.Contains(cookie.Domain, in.Domain) && strings.HasPrefix(cookie.Path, in.Path)
	})
	if err != nil {
		return err
	}
	for i := range list {
		cookie := &list[i]
		cookie.Value = c.Out.Brief(cookie.Value)
		c.Out.Show(fmt.Sprintf("%s=%s (%s%s)", cookie.Name, cookie.Value, cookie.Domain, cookie.Path), true)
	}
	answer.SetList(c.Out, "cookies", list, "There are none.")
	return nil
}

func cookieGet(ctx context.Context, c *agent.Call, p *page.Page, in cookieNameIn) error {
	list, err := cookies(ctx, c, p, func(cookie storage.Cookie) bool { return cookie.Name == in.Name })
	if err != nil {
		return err
	}
	for _, cookie := range list {
		c.Out.Show(cookie.Name+"="+cookie.Value, true)
		attributes := []string{"domain " + cookie.Domain, "path " + cookie.Path, "SameSite " + cookie.SameSite}
		if cookie.HTTPOnly {
			attributes = append(attributes, "HttpOnly")
		}
		if cookie.Secure {
			attributes = append(attributes, "Secure")
		}
		if cookie.PartitionKey != "" {
			attributes = append(attributes, "partitioned below "+cookie.PartitionKey)
		}
		if cookie.Expires >= 0 {
			attributes = append(attributes, "until "+time.Unix(int64(cookie.Expires), 0).UTC().Format(time.RFC3339))
		}
		c.Out.Show("  "+strings.Join(attributes, ", "), true)
	}
	answer.SetList(c.Out, "cookies", list, fmt.Sprintf("There is no cookie %s.", in.Name))
	return nil
}

func cookieSet(ctx context.Context, c *agent.Call, p *page.Page, in cookieSetIn) error {
	cookie := storage.Cookie{
		Name: in.Name, Value: in.Value, Domain: cmp.Or(in.Domain, p.Host()), Path: cmp.Or(in.Path, "/"),
		Expires:  in.Expires,
		HTTPOnly: in.HTTPOnly, Secure: in.Secure, SameSite: in.SameSite,
	}
	if cookie.Domain == "" {
		return fmt.Errorf("domain: the page at %s has no host, so name one", p.URL())
	}
	return c.Done(p.Storage().SetCookies(ctx, cookie), "Set the cookie %s of %s%s.", cookie.Name, cookie.Domain,
		cookie.Path)
}

func cookieDelete(ctx context.Context, c *agent.Call, p *page.Page, in cookieNameIn) error {
	deleted, err := p.Storage().DeleteCookies(ctx, in.Name)
	if err != nil {
		return err
	}
	for _, cookie := range deleted {
		c.Out.Quotef("Deleted the cookie %s of %s%s.", cookie.Name, cookie.Domain, cookie.Path)
	}
	if len(deleted) == 0 {
		c.Out.Addf("There is no cookie %s.", in.Name)
	}
	return nil
}

func cookieClear(ctx context.Context, c *agent.Call, p *page.Page, _ inPage) error {
	return c.Done(p.Storage().ClearCookies(ctx), "Deleted all cookies.")
}

type keyIn struct {
	Key string `json:"key" is:"subject"`
	inPage
}

type setItemIn struct {
	Key   string `json:"key" is:"subject"`
	Value string `json:"value"`
	inPage
}

// Both storage areas of a page have the same tools.
var _, _ = defineArea(storage.Local), defineArea(storage.Session)

func defineArea(area storage.Area) []*Tool {
	a, name := areaTools{area}, "browser_"+strings.ToLower(string(area))
	return []*Tool{
		defineStorage(Tool{
			Name: name + "_list", Title: fmt.Sprintf("List %s", area),
			Description: fmt.Sprintf("List the page's %s", area),
			Effect:      Reads, Returns: "the items of the page's origin; long values shortened",
			Data: "`items`: `key`, `value`", Example: `{}`,
		}, a.list),
		defineStorage(Tool{
			Name: name + "_get", Title: fmt.Sprintf("Get an item of %s", area),
			Description: fmt.Sprintf("One %s item in full", area),
			Effect:      Reads, Data: "`key`, `value`", Example: `{"key": "theme"}`,
		}, a.get),
		defineStorage(Tool{
			Name: name + "_set", Title: fmt.Sprintf("Set an item of %s", area),
			Description: fmt.Sprintf("Set a %s item", area),
			Effect:      Acts, Example: `{"key": "theme", "value": "dark"}`,
		}, func(ctx context.Context, c *agent.Call, p *page.Page, in setItemIn) error {
			return c.Done(p.Storage().SetItem(ctx, area, in.Key, in.Value), "Set %s.", in.Key)
		}),
		defineStorage(Tool{
			Name: name + "_delete", Title: fmt.Sprintf("Delete an item of %s", area),
			Description: fmt.Sprintf("Delete a %s item", area),
			Effect:      Acts, Example: `{"key": "theme"}`,
		}, func(ctx context.Context, c *agent.Call, p *page.Page, in keyIn) error {
			return c.Done(p.Storage().RemoveItem(ctx, area, in.Key), "Deleted %s.", in.Key)
		}),
		defineStorage(Tool{
			Name: name + "_clear", Title: fmt.Sprintf("Clear %s", area),
			Description: fmt.Sprintf("Clear the page's %s", area),
			Effect:      Acts, Example: `{}`,
		}, func(ctx context.Context, c *agent.Call, p *page.Page, _ inPage) error {
			return c.Done(p.Storage().ClearItems(ctx, area), "The %s is empty now.", area)
		}),
	}
}

// areaTools are the tools of a storage area of the page.
type areaTools struct{ area storage.Area }

// itemOut is one item of a storage area in a structured answer.
type itemOut struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func (t areaTools) list(ctx context.Context, c *agent.Call, p *page.Page, _ inPage) error {
	items, err := p.Storage().Items(ctx, t.area)
	if err != nil {
		return err
	}
	list := make([]itemOut, len(items))
	for i, item := range items {
		list[i] = itemOut{item.Name, c.Out.Brief(item.Value)}
		c.Out.Show(item.Name+"="+list[i].Value, true)
	}
	answer.SetList(c.Out, "items", list, fmt.Sprintf("The %s is empty.", t.area))
	return nil
}

func (t areaTools) get(ctx context.Context, c *agent.Call, p *page.Page, in keyIn) error {
	items, err := p.Storage().Items(ctx, t.area)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(items, func(item storage.Item) bool { return item.Name == in.Key })
	if i < 0 {
		return c.Done(nil, "There is no item %s.", in.Key)
	}
	c.Out.Show(in.Key+"="+items[i].Value, true)
	c.Out.Set("key", in.Key)
	c.Out.Set("value", items[i].Value)
	return nil
}
