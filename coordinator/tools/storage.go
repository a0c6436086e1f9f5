package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/page/storage"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type keyIn struct {
	Key string `json:"key"`
	inWindow
}

type setItemIn struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	inWindow
}

type cookieListIn struct {
	Domain string `json:"domain,omitempty" jsonschema:"Only of domains with this in them"`
	Path   string `json:"path,omitempty" jsonschema:"Only of paths that begin so"`
	inWindow
}

type cookieNameIn struct {
	Name string `json:"name"`
	inWindow
}

type cookieSetIn struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain,omitempty" jsonschema:"Default: the page's host; with a dot in front subdomains too"`
	Path     string  `json:"path,omitempty" jsonschema:"Default: /"`
	Expires  float64 `json:"expires,omitempty" jsonschema:"Seconds since 1970; without it the cookie ends with the browser"`
	HTTPOnly bool    `json:"httpOnly,omitempty"`
	Secure   bool    `json:"secure,omitempty"`
	SameSite string  `json:"sameSite,omitempty" jsonschema:"Strict, Lax or None"`
	inWindow
}

func (s *Server) addStorageTools() {
	add(s, &mcp.Tool{Name: "browser_cookie_list", Description: "List the browser's cookies", Annotations: reads("List cookies"), OutputSchema: listOf("cookies")}, cookieList)
	add(s, &mcp.Tool{Name: "browser_cookie_get", Description: "The cookies of a name in full", Annotations: reads("Get a cookie"), OutputSchema: listOf("cookies")}, cookieGet)
	add(s, &mcp.Tool{Name: "browser_cookie_set", Description: "Set a cookie", Annotations: acts("Set a cookie")}, cookieSet)
	add(s, &mcp.Tool{Name: "browser_cookie_delete", Description: "Delete the cookies of a name", Annotations: acts("Delete a cookie")}, cookieDelete)
	add(s, &mcp.Tool{Name: "browser_cookie_clear", Description: "Delete all cookies, of every site", Annotations: acts("Clear cookies")}, cookieClear)
	s.addAreaTools(storage.Local)
	s.addAreaTools(storage.Session)
	s.addStateTools()
}

// addAreaTools adds the same five tools for a storage area of the page.
func (s *Server) addAreaTools(area storage.Area) {
	name := "browser_" + strings.ToLower(string(area))
	add(s, &mcp.Tool{Name: name + "_list", Description: fmt.Sprintf("List the page's %s", area), Annotations: reads("List " + string(area)), OutputSchema: listOf("items")},
		func(ctx context.Context, a *agent, in inWindow) (*answer, error) { return itemList(ctx, a, area, in) })
	add(s, &mcp.Tool{Name: name + "_get", Description: fmt.Sprintf("One %s item in full", area), Annotations: reads("Get an item of " + string(area)), OutputSchema: objectOf("key", "value")},
		func(ctx context.Context, a *agent, in keyIn) (*answer, error) { return itemGet(ctx, a, area, in) })
	add(s, &mcp.Tool{Name: name + "_set", Description: fmt.Sprintf("Set a %s item", area), Annotations: acts("Set an item of " + string(area))},
		func(ctx context.Context, a *agent, in setItemIn) (*answer, error) { return itemSet(ctx, a, area, in) })
	add(s, &mcp.Tool{Name: name + "_delete", Description: fmt.Sprintf("Delete a %s item", area), Annotations: acts("Delete an item of " + string(area))},
		func(ctx context.Context, a *agent, in keyIn) (*answer, error) { return itemDelete(ctx, a, area, in) })
	add(s, &mcp.Tool{Name: name + "_clear", Description: fmt.Sprintf("Clear the page's %s", area), Annotations: acts("Clear " + string(area))},
		func(ctx context.Context, a *agent, in inWindow) (*answer, error) { return itemClear(ctx, a, area, in) })
}

func cookieList(ctx context.Context, a *agent, in cookieListIn) (*answer, error) {
	cookies, refused, err := a.cookies(ctx, in.Window, func(c storage.Cookie) bool {
		return strings.Contains(c.Domain, in.Domain) && strings.HasPrefix(c.Path, in.Path)
	})
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.leftOut(refused, "cookies")
	for i := range cookies {
		c := &cookies[i]
		c.Value = a.brief(c.Value)
		out.told(fmt.Sprintf("%s=%s (%s%s)", c.Name, c.Value, c.Domain, c.Path), true)
	}
	out.tell("cookies", orEmpty(cookies))
	if len(cookies) == 0 {
		out.addf("There are none.")
	}
	return out, nil
}

func cookieGet(ctx context.Context, a *agent, in cookieNameIn) (*answer, error) {
	cookies, refused, err := a.cookies(ctx, in.Window, func(c storage.Cookie) bool { return c.Name == in.Name })
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.leftOut(refused, "cookies")
	for _, c := range cookies {
		out.told(c.Name+"="+c.Value, true)
		attributes := []string{"domain " + c.Domain, "path " + c.Path, "SameSite " + c.SameSite}
		if c.HTTPOnly {
			attributes = append(attributes, "HttpOnly")
		}
		if c.Secure {
			attributes = append(attributes, "Secure")
		}
		if c.PartitionKey != "" {
			attributes = append(attributes, "partitioned below "+c.PartitionKey)
		}
		if c.Expires >= 0 {
			attributes = append(attributes, "until "+time.Unix(int64(c.Expires), 0).UTC().Format(time.RFC3339))
		}
		out.told("  "+strings.Join(attributes, ", "), true)
	}
	out.tell("cookies", orEmpty(cookies))
	if len(cookies) == 0 {
		out.addf("There is no cookie %s.", in.Name)
	}
	return out, nil
}

// itemOut is one item of a storage area in a structured answer.
type itemOut struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func (a *agent) cookies(ctx context.Context, window string, wanted func(storage.Cookie) bool) (cookies []storage.Cookie, refused int, err error) {
	p, err := a.page(ctx, window)
	if err != nil {
		return nil, 0, err
	}
	if cookies, err = p.Storage().Cookies(ctx); err != nil {
		return nil, 0, err
	}
	cookies, refused = within(a.server.options.Origins, cookies)
	return slices.DeleteFunc(cookies, func(c storage.Cookie) bool { return !wanted(c) }), refused, nil
}

func cookieSet(ctx context.Context, a *agent, in cookieSetIn) (*answer, error) {
	if err := oneOf("sameSite", in.SameSite, "", "Strict", "Lax", "None"); err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	c := storage.Cookie{
		Name: in.Name, Value: in.Value, Domain: in.Domain, Path: in.Path, Expires: in.Expires,
		HTTPOnly: in.HTTPOnly, Secure: in.Secure, SameSite: in.SameSite,
	}
	if c.Domain == "" {
		c.Domain = p.Host()
	}
	if c.Domain == "" {
		return nil, fmt.Errorf("domain: the page at %s has no host, so name one", p.URL())
	}
	if c.Path == "" {
		c.Path = "/"
	}
	if err := p.Storage().SetCookies(ctx, c); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Set the cookie %s of %s%s.", c.Name, c.Domain, c.Path)
	return out, nil
}

func cookieDelete(ctx context.Context, a *agent, in cookieNameIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	deleted, err := p.Storage().DeleteCookies(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	for _, c := range deleted {
		out.quotef("Deleted the cookie %s of %s%s.", c.Name, c.Domain, c.Path)
	}
	if len(deleted) == 0 {
		out.addf("There is no cookie %s.", in.Name)
	}
	return out, nil
}

func cookieClear(ctx context.Context, a *agent, in inWindow) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := p.Storage().ClearCookies(ctx); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Deleted all cookies.")
	return out, nil
}

func itemList(ctx context.Context, a *agent, area storage.Area, in inWindow) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	items, err := p.Storage().Items(ctx, area)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	list := []itemOut{}
	for _, item := range items {
		value := a.brief(item.Value)
		out.told(item.Name+"="+value, true)
		list = append(list, itemOut{item.Name, value})
	}
	out.tell("items", list)
	if len(items) == 0 {
		out.addf("The %s is empty.", area)
	}
	return out, nil
}

func itemGet(ctx context.Context, a *agent, area storage.Area, in keyIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	items, err := p.Storage().Items(ctx, area)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	i := slices.IndexFunc(items, func(item storage.Item) bool { return item.Name == in.Key })
	if i < 0 {
		out.addf("There is no item %s.", in.Key)
		return out, nil
	}
	out.told(in.Key+"="+items[i].Value, true)
	out.tell("key", in.Key)
	out.tell("value", items[i].Value)
	return out, nil
}

func itemSet(ctx context.Context, a *agent, area storage.Area, in setItemIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := p.Storage().SetItem(ctx, area, in.Key, in.Value); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Set %s.", in.Key)
	return out, nil
}

func itemDelete(ctx context.Context, a *agent, area storage.Area, in keyIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := p.Storage().RemoveItem(ctx, area, in.Key); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Deleted %s.", in.Key)
	return out, nil
}

func itemClear(ctx context.Context, a *agent, area storage.Area, in inWindow) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := p.Storage().ClearItems(ctx, area); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("The %s is empty now.", area)
	return out, nil
}

// longestValue is how much of a value a list shows.
const longestValue = 200

func (a *agent) brief(value string) string {
	value = a.server.options.Secrets.Hide(value) // before the cut, which may fall into a secret
	runes := []rune(value)
	if len(runes) <= longestValue {
		return value
	}
	return fmt.Sprintf("%s… (%d characters)", string(runes[:longestValue]), len(runes))
}
