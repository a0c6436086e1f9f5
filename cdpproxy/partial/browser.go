package partial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/capture"
	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/policy"
)

// Browser is the part. It implements [browser.Browser].
type Browser struct {
	whole     browser.Browser
	log       *slog.Logger
	watch     browser.Conn // reports the targets
	markReady func()       // closes what New waits for: the targets are reported, or never will be

	// mu guards the fields that follow, and the fields of targets and connections whose
	// comments name it. Nothing under it blocks, nor calls the whole browser.
	mu       sync.Mutex
	targets  map[string]*target // pages
	frames   map[string]string  // URLs of frames with a process of their own; empty: not known yet
	opening  map[string]bool    // ids of pages that clients opened and that are not reported yet
	contexts map[string]bool    // that clients made
	conns    map[*conn]struct{}
}

// target is a page of the whole browser. Browser.mu guards its fields.
type target struct {
	info  info
	host  string          // of its URL, in lower case; empty: it has none
	raw   json.RawMessage // the info as the browser reports it
	owner owner
}

// owner is whose a tab is. One that shows another address than those of policy.OpensPage becomes
// the user's for good. So the history of a client's tab has no other addresses.
type owner int

const (
	users      owner = iota // clients do not know of it
	handedOver              // by the user to the clients
	clients                 // a client opened it
)

// isShown reports whether clients may know of the page. mu is held.
func (t *target) isShown() bool { return t.owner != users }

// info is the part of Target.TargetInfo that counts.
type info struct {
	ID     string `json:"targetId"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Opener string `json:"openerId"`
	Sub    string `json:"subtype"`
}

// New begins to present a browser. It returns when its tabs are known.
func New(ctx context.Context, whole browser.Browser, log *slog.Logger) (*Browser, error) {
	known := make(chan struct{})
	b := &Browser{
		whole: whole, log: log, markReady: sync.OnceFunc(func() { close(known) }),
		targets: map[string]*target{}, frames: map[string]string{}, opening: map[string]bool{},
		contexts: map[string]bool{}, conns: map[*conn]struct{}{},
	}
	var err error
	if b.watch, err = whole.Open(ctx, "", watcher{b}); err != nil {
		return nil, fmt.Errorf("watch the tabs of the browser: %w", err)
	}
	b.watch.Send(browser.Message{
		ID: []byte("1"), Method: "Target.setDiscoverTargets",
		Params: []byte(`{"discover":true,"filter":[{"type":"page"},{"type":"iframe"}]}`),
	})
	select {
	case <-known:
		return b, nil
	case <-ctx.Done():
		b.watch.Close()
		return nil, fmt.Errorf("watch the tabs of the browser: %w", context.Cause(ctx))
	}
}

// Close stops watching. The clients have left by then.
func (b *Browser) Close() { b.watch.Close() }

// watcher is the client of the whole browser that reports the targets.
type watcher struct{ *Browser }

func (w watcher) Name() string { return "Browser-Coordinator" }

func (w watcher) End(uint16, string) { w.markReady() }

func (w watcher) Send(message []byte) {
	var m struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
		Params struct {
			Info   json.RawMessage `json:"targetInfo"`
			Target string          `json:"targetId"`
		} `json:"params"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		w.log.Warn("the browser sent an event that cannot be read", "error", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case m.ID == 1:
		w.markReady()
	case m.Method == "Target.targetCreated", m.Method == "Target.targetInfoChanged":
		w.know(m.Params.Info)
	case m.Method == "Target.targetDestroyed":
		if t := w.targets[m.Params.Target]; t != nil {
			w.give(t, users)
			delete(w.targets, m.Params.Target)
		}
		delete(w.frames, m.Params.Target)
	}
}

// know stores what the browser reports of a target. mu is held.
func (b *Browser) know(raw json.RawMessage) {
	var i info
	if json.Unmarshal(raw, &i) != nil {
		return
	}
	if i.Type == "iframe" {
		b.frames[i.ID] = i.URL
		for c := range b.conns {
			c.frameChanged(i.ID)
		}
		return
	}
	if i.Type != "page" || i.Sub != "" {
		return
	}
	t := b.targets[i.ID]
	isNew := t == nil
	if isNew {
		t = &target{}
		b.targets[i.ID] = t
	}
	if isNew || i.URL != t.info.URL {
		t.host = hostOf(i.URL)
	}
	t.info, t.raw = i, raw
	to := t.owner
	// What a client's tab opens is the client's too.
	if opener := b.targets[i.Opener]; isNew && (b.opening[i.ID] || opener != nil && opener.owner == clients) {
		to = clients
	}
	delete(b.opening, i.ID)
	b.give(t, to)
}

// give changes whose a tab is, or only what is known of it, and reports that to the clients. mu
// is held.
func (b *Browser) give(t *target, to owner) {
	if !policy.OpensPage(t.info.URL) {
		to = users
	}
	was := t.isShown()
	t.owner = to
	event := "Target.targetInfoChanged"
	switch {
	case t.isShown() && !was:
		event = "Target.targetCreated"
	case !t.isShown() && was:
		event = "Target.targetDestroyed"
	case !was:
		return
	}
	for c := range b.conns {
		c.changed(t, event)
	}
}

// opened notes that a client has opened a tab. mu is held.
func (b *Browser) opened(id string) {
	if t := b.targets[id]; t == nil {
		b.opening[id] = true
	} else if t.owner == users {
		b.give(t, clients)
	}
}

// clientTarget is a target that clients may know of; nil: there is none. mu is held.
func (b *Browser) clientTarget(id string) *target {
	if t := b.targets[id]; t != nil && t.isShown() {
		return t
	}
	return nil
}

// hosts are those of the tabs in reach. mu is held.
func (b *Browser) hosts() (hosts []string) {
	for _, t := range b.targets {
		if t.isShown() && t.host != "" {
			hosts = append(hosts, t.host)
		}
	}
	return hosts
}

// hostOf is the host of a URL, as [Browser.hosts] has it.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// UserTab is one of the user's tabs.
type UserTab struct {
	discovery.Target
	HandedOver bool
}

// UserTabs lists the user's tabs that are handed over, or could be, by address.
func (b *Browser) UserTabs() (tabs []UserTab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.targets {
		if t.owner != clients && policy.OpensPage(t.info.URL) && t.info.URL != "" {
			tabs = append(tabs, UserTab{t.described(), t.owner == handedOver})
		}
	}
	slices.SortFunc(tabs, func(x, y UserTab) int { return strings.Compare(x.URL+x.ID, y.URL+y.ID) })
	return tabs
}

// HandOver lets clients use one of the user's tabs, until the user takes it back, it closes or it
// leaves their reach.
func (b *Browser) HandOver(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.targets[id]
	if t == nil || !policy.OpensPage(t.info.URL) {
		return browser.ErrNoTarget
	}
	if t.owner == users {
		b.give(t, handedOver)
	}
	return nil
}

// TakeBack ends a hand-over.
func (b *Browser) TakeBack(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.targets[id]
	if t == nil || t.owner != handedOver {
		return browser.ErrNoTarget
	}
	b.give(t, users)
	return nil
}

func (t *target) described() discovery.Target {
	return discovery.Target{ID: t.info.ID, Title: t.info.Title, Type: t.info.Type, URL: t.info.URL}
}

// Product implements [browser.Browser].
func (b *Browser) Product(ctx context.Context) (discovery.Product, error) {
	return b.whole.Product(ctx)
}

// Targets implements [browser.Browser].
func (b *Browser) Targets(context.Context) (tabs []discovery.Target, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.targets {
		if t.isShown() {
			tabs = append(tabs, t.described())
		}
	}
	slices.SortFunc(tabs, func(x, y discovery.Target) int { return strings.Compare(x.ID, y.ID) })
	return tabs, nil
}

// errAddress reports an address that clients may not open.
var errAddress = errors.New("in the user's own browser clients may open addresses with http, https, data, blob and " +
	"about:blank only")

// OpenPage implements [browser.Browser].
func (b *Browser) OpenPage(ctx context.Context, address string) (discovery.Target, error) {
	if !policy.OpensPage(address) {
		return discovery.Target{}, errAddress
	}
	t, err := b.whole.OpenPage(ctx, address)
	if err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.opened(t.ID)
	}
	return t, err
}

// Act implements [browser.Browser].
func (b *Browser) Act(ctx context.Context, method, id string) error {
	b.mu.Lock()
	t := b.clientTarget(id)
	mayAct := t != nil && (t.owner == clients || method != closeTarget)
	b.mu.Unlock()
	if !mayAct {
		return browser.ErrNoTarget
	}
	return b.whole.Act(ctx, method, id)
}

const closeTarget = "Target.closeTarget"

// Open implements [browser.Browser].
func (b *Browser) Open(ctx context.Context, page string, to browser.Client) (browser.Conn, error) {
	c := &conn{
		browser: b, to: to, sessions: map[string]*session{}, pending: map[string]func(message []byte) []byte{},
		held:    map[string][]byte{},
		leaving: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	c.sessions[""] = &session{target: page}
	b.mu.Lock()
	hidden := page != "" && b.clientTarget(page) == nil
	if !hidden {
		b.conns[c] = struct{}{}
	}
	b.mu.Unlock()
	if hidden {
		return nil, browser.ErrNoTarget
	}
	// Sessions end here too, when a tab leaves the clients' reach.
	c.whole = capture.New(page, false, to.Send, b.log)
	whole, err := b.whole.Open(ctx, page, receiver{c})
	c.whole.Connect(whole)
	if err != nil {
		b.mu.Lock()
		delete(b.conns, c)
		b.mu.Unlock()
		return nil, err
	}
	c.running.Go(c.sendOwn)
	return c, nil
}

// key identifies a command by its session and its id.
func key(session string, id []byte) string { return session + " " + string(id) }

// firstOwn begins the ids of a connection's own commands, which no client uses.
const firstOwn = -1 << 31

func isOwn(id []byte) bool {
	n, err := strconv.ParseInt(string(id), 10, 32)
	return err != nil || n < firstOwn+(1<<24)
}
