package virtual

import (
	"context"
	"errors"
	"slices"
	"time"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// offerTimeout bounds how long a new page may take until the debugger has it and
// shares its session.
const offerTimeout = 20 * time.Second

var (
	errNoTarget  = &failure{codeParams, "No target with given id found"}
	errNoSession = &failure{codeParams, "No session with given id"}
	errFlat      = &failure{codeParams, "Only flat sessions are offered: set flatten to true"}
	errContexts  = refused("Not allowed: the window's debugger shares its pages only, and browser contexts cannot be made or ended through them. Use the pages of the default context")
	errAllowed   = refused("Not allowed")
)

// targetCommand handles the Target domain, which is this package's own: in the
// page's session it belongs to the debugger.
func (s *session) targetCommand(m command, name string) {
	c := s.client
	var result any
	var err *failure
	switch name {
	case "setDiscoverTargets":
		err = s.setDiscover(m.Params)
	case "setAutoAttach":
		err = s.setAutoAttach(m.Params)
	case "getTargets", "getTargetInfo":
		c.later(callTimeout, func(ctx context.Context) { s.answerFresh(ctx, m) })
		return
	case "attachToTarget":
		result, err = s.attach(m.Params)
	case "attachToBrowserTarget":
		result, err = s.attachToBrowser()
	case "detachFromTarget":
		err = s.detach(m.Params)
	case "getBrowserContexts":
		result = s.contexts()
	case "setRemoteLocations":
	case "createBrowserContext", "disposeBrowserContext":
		err = errContexts
	case "exposeDevToolsProtocol", "sendMessageToTarget", "autoAttachRelated", "openDevTools", "getDevToolsTarget":
		err = errAllowed
	case "createTarget":
		c.later(callTimeout+offerTimeout, func(ctx context.Context) { s.createTarget(ctx, m) })
		return
	case "closeTarget", "activateTarget":
		c.later(callTimeout, func(ctx context.Context) { s.actOnTarget(ctx, m) })
		return
	default:
		err = notFound(m.Method)
	}
	s.answer(m, result, err)
}

func (s *session) answer(m command, result any, err *failure) {
	c := s.client
	switch {
	case err != nil:
		c.reply(s, m.ID, nil, err)
	case result == nil:
		c.reply(s, m.ID, nil, nil)
	default:
		c.reply(s, m.ID, encode(result), nil)
	}
}

func (s *session) setDiscover(params json.Value) *failure {
	var p struct {
		Discover bool   `json:"discover"`
		Filter   filter `json:"filter"`
	}
	if err := decode(params, &p); err != nil {
		return err
	}
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	before := s.discover
	s.discover = nil
	if !p.Discover {
		return nil
	}
	s.discover = p.Filter.or(defaultFilter)
	for _, info := range b.infos(s.discover) {
		// A second discovery reports what the first did not.
		if !before.matches(info.Type) {
			s.client.event(s, "Target.targetCreated", encode(about{info}))
		}
	}
	return nil
}

// infos lists the targets that a filter includes. mu is held.
func (b *Browser) infos(f filter) []targetInfo {
	infos := []targetInfo{}
	add := func(info targetInfo) {
		if f.matches(info.Type) {
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

func (s *session) setAutoAttach(params json.Value) *failure {
	var p struct {
		AutoAttach bool   `json:"autoAttach"`
		Flatten    bool   `json:"flatten"`
		Filter     filter `json:"filter"`
	}
	if err := decode(params, &p); err != nil {
		return err
	}
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.AutoAttach {
		s.autoAttach = nil
		for _, child := range slices.Clone(s.children) {
			if child.auto {
				child.finish(true)
			}
		}
		return nil
	}
	if !p.Flatten {
		return errFlat
	}
	s.autoAttach = p.Filter.or(defaultFilter)
	for _, t := range slices.Clone(b.order) {
		s.joinAutomatically(t)
	}
	return nil
}

type targetInfos struct {
	Infos []targetInfo `json:"targetInfos"`
}

// answerFresh responds to commands that depend on current titles.
func (s *session) answerFresh(ctx context.Context, m command) {
	s.client.browser.refresh(ctx)
	get := s.getTargets
	if m.Method == "Target.getTargetInfo" {
		get = s.getTargetInfo
	}
	result, err := get(m.Params)
	s.answer(m, result, err)
}

func (s *session) getTargets(params json.Value) (any, *failure) {
	var p struct {
		Filter filter `json:"filter"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	return targetInfos{b.infos(p.Filter.or(defaultFilter))}, nil
}

func (s *session) getTargetInfo(params json.Value) (any, *failure) {
	var p targetID
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	switch t, tab := b.byID(p.ID); {
	case p.ID == "":
		return about{s.info()}, nil
	case p.ID == b.guid:
		return about{b.selfInfo()}, nil
	case t == nil:
		return nil, errNoTarget
	case tab:
		return about{t.tabInfo()}, nil
	default:
		return about{t.info}, nil
	}
}

type targetID struct {
	ID string `json:"targetId"`
}

type sessionID struct {
	ID string `json:"sessionId"`
}

func (s *session) attach(params json.Value) (any, *failure) {
	var p struct {
		ID      string `json:"targetId"`
		Flatten bool   `json:"flatten"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	if !p.Flatten {
		return nil, errFlat
	}
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	t, tab := b.byID(p.ID)
	switch {
	case t == nil || s.ended:
		return nil, errNoTarget
	case tab:
		return sessionID{s.join(ofTab, t, false).id}, nil
	default:
		return sessionID{s.join(ofPage, t, false).id}, nil
	}
}

func (s *session) attachToBrowser() (any, *failure) {
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.kind != ofBrowser || s.ended {
		return nil, errAllowed
	}
	return sessionID{s.join(ofBrowser, nil, false).id}, nil
}

func (s *session) detach(params json.Value) *failure {
	var p sessionID
	if err := decode(params, &p); err != nil {
		return err
	}
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, child := range s.children {
		if child.id == p.ID {
			child.finish(true)
			return nil
		}
	}
	return errNoSession
}

type browserContexts struct {
	IDs     []string `json:"browserContextIds"`
	Default string   `json:"defaultBrowserContextId,omitempty"`
}

// contexts reports the contexts of the pages: the oldest page's is the default.
func (s *session) contexts() any {
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	answer := browserContexts{IDs: []string{}}
	for _, t := range b.order {
		switch id := t.info.BrowserContextID; {
		case answer.Default == "":
			answer.Default = id
		case id != answer.Default && !slices.Contains(answer.IDs, id):
			answer.IDs = append(answer.IDs, id)
		}
	}
	return answer
}

// createTarget opens a page, and responds when the page can be used: the debugger
// attaches to it first.
func (s *session) createTarget(ctx context.Context, m command) {
	c := s.client
	t, err := c.browser.create(ctx, m.Params)
	if err != nil {
		c.reply(s, m.ID, nil, err)
		return
	}
	c.reply(s, m.ID, encode(targetID{t.id()}), nil)
}

// create opens a page through an existing one.
func (b *Browser) create(ctx context.Context, params json.Value) (*target, error) {
	b.mu.Lock()
	first := b.first()
	var via *conn
	if first != nil {
		via = first.conn
	}
	b.mu.Unlock()
	if via == nil {
		return nil, refused("a page is opened through one that the debugger has, and it has none now")
	}
	if len(params) == 0 {
		params = empty
	}
	var made targetID
	if err := via.call(ctx, "Target.createTarget", params, &made); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, offerTimeout)
	defer cancel()
	t, err := b.await(waiting, func() *target {
		t, tab := b.byID(made.ID)
		if tab {
			return nil
		}
		return t
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, refused("the page was opened, but the debugger has not attached to it, so it cannot be driven from here")
	}
	return t, err
}

// actOnTarget closes or activates a page through the page's own connection.
func (s *session) actOnTarget(ctx context.Context, m command) {
	c := s.client
	var p targetID
	if err := decode(m.Params, &p); err != nil {
		c.reply(s, m.ID, nil, err)
		return
	}
	result, err := c.browser.act(ctx, m.Method, p.ID)
	c.reply(s, m.ID, result, err)
}

func (b *Browser) act(ctx context.Context, method, id string) (json.Value, error) {
	b.mu.Lock()
	t, _ := b.byID(id)
	var via *conn
	if t != nil {
		id, via = t.info.ID, t.conn
	}
	b.mu.Unlock()
	if via == nil {
		return nil, errNoTarget
	}
	var result json.Value
	err := via.call(ctx, method, targetID{id}, &result)
	if errors.Is(err, errGone) && method == "Target.closeTarget" {
		return json.Value(`{"success":true}`), nil // the page closed before its response
	}
	return result, err
}
