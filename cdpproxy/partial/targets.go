package partial

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/policy"
)

// errUsers reports a tab that only its user may close.
var errUsers = &browser.Error{Code: browser.CodeServer, Message: "this is the user's tab, which only the user closes"}

// errHandedOver reports what clients may do only in tabs that they opened.
var errHandedOver = &browser.Error{Code: browser.CodeServer, Message: "the user handed this tab over: its history, " +
	"and scripts for pages that are opened in it later, are out of reach. Open a tab for that"}

var errNotFlat = &browser.Error{Code: browser.CodeParams, Message: "set flatten to true"}

// errHidden reports a tab that its user would not see.
var errHidden = &browser.Error{Code: browser.CodeServer, Message: "in the user's own browser the user sees each tab: " +
	"open one that is not hidden"}

// parameters are those of the commands below.
type parameters struct {
	Target     string         `json:"targetId"`
	Session    string         `json:"sessionId"`
	Context    string         `json:"browserContextId"`
	URL        string         `json:"url"`
	Discover   bool           `json:"discover"`
	AutoAttach bool           `json:"autoAttach"`
	Wait       bool           `json:"waitForDebuggerOnStart"`
	Flatten    bool           `json:"flatten"`
	ForTab     bool           `json:"forTab"`
	Hidden     bool           `json:"hidden"`
	Temporary  bool           `json:"disposeOnDetach"`
	Filter     browser.Filter `json:"filter"`
}

// toBrowser executes a command to the browser, or has it forwarded. What is not here is
// refused. mu is held.
func (c *conn) toBrowser(s *session, m *browser.Message) (forward bool) {
	b := c.browser
	var p parameters
	if err := browser.DecodeParams(m.Params, &p); err != nil {
		c.to.Send(m.Response(nil, err))
		return false
	}
	respond := func(result any, err error) bool {
		encoded, marshalErr := json.Marshal(result)
		if result == nil || marshalErr != nil {
			encoded = nil
		}
		c.to.Send(m.Response(encoded, err))
		return false
	}
	switch t := b.clientTarget(p.Target); m.Method {
	case "Browser.getVersion":
		return true
	case "Browser.getWindowForTarget", "Target.activateTarget":
		if t == nil {
			return respond(nil, browser.ErrNoTarget)
		}
		return true
	case "Browser.grantPermissions", "Browser.resetPermissions", "Browser.setPermission", "Storage.clearCookies",
		"Storage.setCookies":
		if b.contexts[p.Context] {
			return true
		}
		if m.Method == "Storage.setCookies" && policy.DecidePersonal(b.hosts(), m.Method, m.Params).Outcome == policy.Allow {
			return true
		}
	case getCookies:
		if !b.contexts[p.Context] {
			c.await(m, c.onlyOwnCookies)
		}
		return p.Context == "" || b.contexts[p.Context] || b.isDefault(p.Context) || respond(nil, browser.ErrNoTarget)
	case discoverTargets:
		was := s.discover
		s.discover = p.Discover && p.Filter.OrDefault().Matches("page")
		for _, each := range b.inOrder() {
			if s.discover && !was && each.isShown() {
				c.event(m.Session, "Target.targetCreated", map[string]any{"targetInfo": each.raw})
			}
		}
		return respond(nil, nil)
	case autoAttach:
		if p.AutoAttach && !p.Flatten {
			return respond(nil, errNotFlat)
		}
		was := s.attach
		// Puppeteer wants the targets around pages, and takes the pages.
		wanted := p.Filter.OrDefault()
		s.attach = p.AutoAttach && (wanted.Matches("page") || wanted.Matches("tab"))
		for _, each := range b.inOrder() {
			if s.attach && !was && each.isShown() {
				c.attachTo(m.Session, each)
			}
		}
		// A client expects the tabs before the response: it goes through the browser as well.
		response := m.Response(nil, nil)
		c.call(m.Session, "Browser.getVersion", struct{}{}, func([]byte) []byte { return response })
		return false
	case "Target.getTargets":
		c.await(m, c.onlyShown)
		return true
	case "Target.getTargetInfo":
		if p.Target != "" && t == nil {
			return respond(nil, browser.ErrNoTarget)
		}
		return true
	case "Target.attachToTarget":
		switch {
		case t == nil:
			return respond(nil, browser.ErrNoTarget)
		case !p.Flatten:
			return respond(nil, errNotFlat)
		}
		return true
	case "Target.attachToBrowserTarget", "Target.detachFromTarget":
		return true
	case "Target.closeTarget":
		switch {
		case t == nil:
			return respond(nil, browser.ErrNoTarget)
		case t.owner != clients:
			return respond(nil, errUsers)
		}
		return true
	case "Target.createTarget":
		switch {
		case !policy.OpensPage(p.URL):
			return respond(nil, errAddress)
		case p.Context != "" && !b.contexts[p.Context] && !b.isDefault(p.Context), p.ForTab:
			return respond(nil, browser.ErrNoTarget)
		case p.Hidden:
			return respond(nil, errHidden)
		}
		session := m.Session
		c.await(m, func(response []byte) []byte { return c.created(session, response) })
		return true
	case "Target.createBrowserContext":
		c.await(m, func(response []byte) []byte { return c.contextCreated(s, p.Temporary, response) })
		return true
	case "Target.disposeBrowserContext":
		if !b.contexts[p.Context] {
			return respond(nil, browser.ErrNoTarget)
		}
		c.await(m, func(response []byte) []byte { return c.contextDisposed(p.Context, response) })
		return true
	case "Target.getBrowserContexts":
		ids := slices.Sorted(maps.Keys(b.contexts))
		return respond(map[string]any{"browserContextIds": append([]string{}, ids...)}, nil)
	}
	d := policy.DecidePersonal(nil, m.Method, []byte(`{"targetId":"","url":"file:"}`))
	if d.Outcome == policy.Ignore {
		return respond(nil, nil)
	}
	return respond(nil, &browser.Error{Code: browser.CodeServer, Message: m.Method + " refused: this is the user's own " +
		"browser. Clients reach only the tabs that they opened or that the user handed over."})
}

// isDefault reports whether a context is that of the user's tabs. mu is held.
func (b *Browser) isDefault(context string) bool {
	for _, t := range b.targets {
		var in parameters
		if json.Unmarshal(t.raw, &in) == nil && in.Context == context && !b.contexts[context] {
			return true
		}
	}
	return false
}

// inOrder are the targets in a stable order. mu is held.
func (b *Browser) inOrder() (all []*target) {
	for _, id := range slices.Sorted(maps.Keys(b.targets)) {
		all = append(all, b.targets[id])
	}
	return all
}

// attachTo attaches a session of the client to a target. mu is held.
func (c *conn) attachTo(session string, t *target) {
	c.call(session, "Target.attachToTarget", map[string]any{"targetId": t.info.ID, "flatten": true}, ignore)
}

// attachWithin has a page's session attached to the frames and workers of that page. Other
// related targets are not the page's alone: a service worker and a shared worker serve the
// user's tabs too. mu is held.
func (c *conn) attachWithin(m *browser.Message) (forward bool) {
	var p parameters
	err := browser.DecodeParams(m.Params, &p)
	if err == nil && p.AutoAttach && !p.Flatten {
		err = errNotFlat
	}
	if err != nil {
		c.to.Send(m.Response(nil, err))
		return false
	}
	kinds := []map[string]any{}
	wanted := p.Filter.OrDefault()
	for _, kind := range kindsWithin {
		if wanted.Matches(kind) {
			kinds = append(kinds, map[string]any{"type": kind})
		}
	}
	kinds = append(kinds, map[string]any{"exclude": true})
	m.Params, err = json.Marshal(map[string]any{
		"autoAttach": p.AutoAttach, "waitForDebuggerOnStart": p.Wait, "flatten": true, "filter": kinds,
	})
	return err == nil
}

// kindsWithin are the types of targets that belong to a page alone.
var kindsWithin = []string{"iframe", "worker", "worklet"}

// detach ends a session of the client. mu is held.
func (c *conn) detach(within, session string) {
	c.call(within, "Target.detachFromTarget", map[string]any{"sessionId": session}, ignore)
}

// frameChanged decides about the sessions of a frame whose URL has changed. mu is held.
func (c *conn) frameChanged(id string) {
	address := c.browser.frames[id]
	if held, ok := c.held[id]; ok && address != "" {
		delete(c.held, id)
		if c.attachedWithin(held) {
			c.to.Send(held)
		}
	}
	for session, s := range c.sessions {
		if s.frame == id && !s.lost && !opensFrame(address) {
			s.lost = true
			c.detach(s.parent, session)
		}
	}
}

// opensFrame reports whether clients may reach a frame with an address: no page of the browser
// or of an extension, which may be within a page of the web.
func opensFrame(address string) bool {
	return policy.OpensPage(address) || strings.HasPrefix(address, "chrome-error:")
}

// changed reports a target to the client's sessions that want to know. mu is held.
func (c *conn) changed(t *target, event string) {
	params := map[string]any{"targetInfo": t.raw}
	if event == "Target.targetDestroyed" {
		params = map[string]any{"targetId": t.info.ID}
	}
	for id, s := range c.sessions {
		if s.discover {
			c.event(id, event, params)
		}
		switch {
		case event == "Target.targetCreated" && s.attach:
			c.attachTo(id, t)
		case event != "Target.targetDestroyed" || s.target != t.info.ID:
		case id == "":
			s.lost = true
			c.to.End(0, "")
		case c.sessions[s.parent] == nil || c.sessions[s.parent].target == "":
			// The page may live on, out of reach. Sessions within this one end with it.
			s.lost = true
			c.detach(s.parent, id)
		default:
			s.lost = true
		}
	}
}

// event sends an event of this package's own. mu is held.
func (c *conn) event(session, method string, params any) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return // of what the browser has sent as JSON
	}
	m := browser.Message{Method: method, Params: encoded, Session: session}
	c.to.Send(m.Encode())
}

// result is the result of a response.
func result(response []byte, value any) bool {
	var r struct {
		Result json.RawMessage `json:"result"`
	}
	return json.Unmarshal(response, &r) == nil && r.Result != nil && json.Unmarshal(r.Result, value) == nil
}

// created notes a tab that the client has opened, and lets the client know of it before the
// response. mu is held.
func (c *conn) created(session string, response []byte) []byte {
	var created parameters
	if !result(response, &created) {
		return response
	}
	c.browser.opened(created.Target)
	if s := c.sessions[session]; s == nil || !s.attach {
		return response
	}
	// By its order this follows the attachment.
	c.call(session, "Browser.getVersion", struct{}{}, func([]byte) []byte { return response })
	return nil
}

// contextCreated notes a context that the client has made in a session; temporary: until that ends. mu is
// held.
func (c *conn) contextCreated(s *session, temporary bool, response []byte) []byte {
	var created parameters
	if !result(response, &created) {
		return response
	}
	c.browser.contexts[created.Context] = true
	if temporary {
		s.contexts = append(s.contexts, created.Context)
	}
	return response
}

// contextDisposed forgets a context. mu is held.
func (c *conn) contextDisposed(id string, response []byte) []byte {
	if result(response, new(parameters)) {
		delete(c.browser.contexts, id)
	}
	return response
}

// onlyShown removes the targets that clients may not know of. mu is held.
func (c *conn) onlyShown(response []byte) []byte {
	return filtered(response, "targetInfos", func(item json.RawMessage) bool {
		var i info
		return json.Unmarshal(item, &i) == nil && c.browser.clientTarget(i.ID) != nil
	})
}

// onlyOwnCookies removes the cookies of other sites than those of the tabs in reach. mu is
// held.
func (c *conn) onlyOwnCookies(response []byte) []byte {
	hosts := c.browser.hosts()
	return filtered(response, "cookies", func(item json.RawMessage) bool {
		var cookie struct {
			Domain string `json:"domain"`
		}
		return json.Unmarshal(item, &cookie) == nil && policy.CookieOf(cookie.Domain, hosts)
	})
}

// filtered is a response whose result has a list, with a part of that list.
func filtered(response []byte, name string, keep func(json.RawMessage) bool) []byte {
	var list map[string][]json.RawMessage
	var r browser.Message
	var m struct {
		ID      json.RawMessage `json:"id"`
		Error   json.RawMessage `json:"error"`
		Session string          `json:"sessionId"`
	}
	if json.Unmarshal(response, &m) != nil {
		return nil
	}
	r.ID, r.Session, r.Error = []byte(m.ID), m.Session, []byte(m.Error)
	if m.Error == nil {
		if !result(response, &list) {
			list = nil
		}
		kept := slices.DeleteFunc(append([]json.RawMessage{}, list[name]...), func(item json.RawMessage) bool {
			return !keep(item)
		})
		r.Result, _ = json.Marshal(map[string]any{name: kept}) // parts of JSON
	}
	return r.Encode()
}
