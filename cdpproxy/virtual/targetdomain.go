package virtual

import (
	"context"
	"slices"

	"github.com/chromedp/cdproto/cdp/jsonv2"

	"browser-coordinator/cdpproxy/browser"
)

var (
	errNoSession = &browser.Error{Code: browser.CodeParams, Message: "No session with given id"}
	errFlat      = &browser.Error{Code: browser.CodeParams, Message: "Only flat sessions are offered: set flatten " +
		"to true"}
	errContexts = refused("Not allowed: the window's debugger shares its pages only, " +
		"and browser contexts cannot be made or ended through them. Use the pages of the default context")
	errAllowed = refused("Not allowed")
)

// targetCommands are the commands of the Target domain that need no wait, called with
// Browser.mu held.
var targetCommands = map[string]func(s *session, params jsonv2.Value) (any, error){
	"setDiscoverTargets":    (*session).setDiscover,
	"setAutoAttach":         (*session).setAutoAttach,
	"setRemoteLocations":    func(*session, jsonv2.Value) (any, error) { return done{}, nil },
	"getTargets":            (*session).getTargets,
	"getTargetInfo":         (*session).getTargetInfo,
	"getBrowserContexts":    (*session).getContexts,
	"attachToTarget":        (*session).attach,
	"attachToBrowserTarget": (*session).attachToBrowser,
	"detachFromTarget":      (*session).detach,
	"createBrowserContext":  refuse(errContexts), "disposeBrowserContext": refuse(errContexts),
	"exposeDevToolsProtocol": refuse(errAllowed), "sendMessageToTarget": refuse(errAllowed),
	"autoAttachRelated": refuse(errAllowed), "openDevTools": refuse(errAllowed),
	"getDevToolsTarget": refuse(errAllowed),
}

func refuse(err error) func(*session, jsonv2.Value) (any, error) {
	return func(*session, jsonv2.Value) (any, error) { return nil, err }
}

// targetCommand executes a command of the Target domain, which is this package's own:
// in the page's session it belongs to the debugger. mu is held.
func (s *session) targetCommand(m command, name string) {
	c := s.client
	b := c.browser
	switch name {
	case "getTargets", "getTargetInfo": // these need current titles
		c.schedule(func(ctx context.Context) {
			b.refresh(ctx)
			b.mu.Lock()
			defer b.mu.Unlock()
			s.targetReply(m, name)
		})
	case "createTarget":
		c.schedule(func(ctx context.Context) {
			t, err := b.create(ctx, m.Params)
			if err != nil {
				c.reply(m, nil, err)
				return
			}
			c.reply(m, encode(targetID{t.id()}), nil)
		})
	case "closeTarget", "activateTarget":
		c.schedule(func(ctx context.Context) {
			var p targetID
			err := browser.DecodeParams(m.Params, &p)
			var result jsonv2.Value
			if err == nil {
				result, err = b.act(ctx, m.Method, p.ID)
			}
			c.reply(m, result, err)
		})
	default:
		s.targetReply(m, name)
	}
}

// targetReply is called with mu held.
func (s *session) targetReply(m command, name string) {
	c := s.client
	execute := targetCommands[name]
	if execute == nil {
		c.reply(m, nil, notFound(m.Method))
		return
	}
	result, err := execute(s, m.Params)
	if err != nil {
		c.reply(m, nil, err)
		return
	}
	c.reply(m, encode(result), nil)
}

// done is the result of a command that has none.
type done struct{}

func (s *session) setDiscover(params jsonv2.Value) (any, error) {
	var p struct {
		Discover bool           `json:"discover"`
		Filter   browser.Filter `json:"filter"`
	}
	if err := browser.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	former := s.discover
	s.discover = nil
	if !p.Discover {
		return done{}, nil
	}
	s.discover = p.Filter.OrDefault()
	for _, info := range s.client.browser.infos(s.discover) {
		// A second discovery reports what the first did not.
		if !former.Matches(info.Type) {
			s.client.event(s, "Target.targetCreated", encode(infoParams{info}))
		}
	}
	return done{}, nil
}

// infos lists the targets that a filter includes. mu is held.
func (b *Browser) infos(f browser.Filter) []targetInfo {
	infos := []targetInfo{}
	add := func(info targetInfo) {
		if f.Matches(info.Type) {
			infos = append(infos, info)
		}
	}
	add(b.selfInfo())
	for _, t := range b.order {
		if t.isTab() {
			add(t.tabInfo())
		}
		add(t.info)
	}
	return infos
}

func (s *session) setAutoAttach(params jsonv2.Value) (any, error) {
	var p struct {
		AutoAttach bool           `json:"autoAttach"`
		Flatten    bool           `json:"flatten"`
		Filter     browser.Filter `json:"filter"`
	}
	if err := browser.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	if !p.AutoAttach {
		s.autoAttach = nil
		for _, child := range slices.Clone(s.children) {
			if child.auto {
				child.finish(true)
			}
		}
		return done{}, nil
	}
	if !p.Flatten {
		return nil, errFlat
	}
	s.autoAttach = p.Filter.OrDefault()
	for _, t := range slices.Clone(s.client.browser.order) {
		s.joinAutomatically(t)
	}
	return done{}, nil
}

func (s *session) getTargets(params jsonv2.Value) (any, error) {
	var p struct {
		Filter browser.Filter `json:"filter"`
	}
	err := browser.DecodeParams(params, &p)
	return struct {
		Infos []targetInfo `json:"targetInfos"`
	}{s.client.browser.infos(p.Filter.OrDefault())}, err
}

func (s *session) getTargetInfo(params jsonv2.Value) (any, error) {
	var p targetID
	if err := browser.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	b := s.client.browser
	switch t, tab := b.byID(p.ID); {
	case p.ID == "":
		return infoParams{s.info()}, nil
	case p.ID == b.id:
		return infoParams{b.selfInfo()}, nil
	case t == nil:
		return nil, browser.ErrNoTarget
	case tab:
		return infoParams{t.tabInfo()}, nil
	default:
		return infoParams{t.info}, nil
	}
}

type targetID struct {
	ID string `json:"targetId"`
}

type sessionID struct {
	ID string `json:"sessionId"`
}

func (s *session) attach(params jsonv2.Value) (any, error) {
	var p struct {
		ID      string `json:"targetId"`
		Flatten bool   `json:"flatten"`
	}
	if err := browser.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	if !p.Flatten {
		return nil, errFlat
	}
	switch t, tab := s.client.browser.byID(p.ID); {
	case t == nil || s.ended:
		return nil, browser.ErrNoTarget
	case tab:
		return sessionID{s.join(ofTab, t, false).id}, nil
	default:
		return sessionID{s.join(ofPage, t, false).id}, nil
	}
}

func (s *session) attachToBrowser(jsonv2.Value) (any, error) {
	if s.kind != ofBrowser || s.ended {
		return nil, errAllowed
	}
	return sessionID{s.join(ofBrowser, nil, false).id}, nil
}

func (s *session) detach(params jsonv2.Value) (any, error) {
	var p sessionID
	if err := browser.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	for _, child := range s.children {
		if child.id == p.ID {
			child.finish(true)
			return done{}, nil
		}
	}
	return nil, errNoSession
}

// getContexts reports the contexts of the pages: the oldest page's is the default.
func (s *session) getContexts(jsonv2.Value) (any, error) {
	r := struct {
		IDs     []string `json:"browserContextIds"`
		Default string   `json:"defaultBrowserContextId,omitempty"`
	}{IDs: []string{}}
	for _, t := range s.client.browser.order {
		switch id := t.info.BrowserContextID; {
		case r.Default == "":
			r.Default = id
		case id != r.Default && !slices.Contains(r.IDs, id):
			r.IDs = append(r.IDs, id)
		}
	}
	return r, nil
}
