package virtual

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"

	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/internal/backoff"
)

// targetInfo is Target.TargetInfo.
type targetInfo struct {
	ID               string `json:"targetId"`
	Type             string `json:"type"`
	Title            string `json:"title"`
	URL              string `json:"url"`
	Attached         bool   `json:"attached"`
	OpenerID         string `json:"openerId,omitempty"`
	CanAccessOpener  bool   `json:"canAccessOpener"`
	OpenerFrameID    string `json:"openerFrameId,omitempty"`
	ParentFrameID    string `json:"parentFrameId,omitempty"`
	BrowserContextID string `json:"browserContextId,omitempty"`
	Subtype          string `json:"subtype,omitempty"`
}

// version is the result of Browser.getVersion.
type version = discovery.Product

// target is one page. Its watcher keeps a connection of its own, which also carries
// requests to the browser.
type target struct {
	browser *Browser
	page    Page
	ctx     context.Context
	cancel  context.CancelFunc

	// Guarded by Browser.mu.
	info    targetInfo
	offered bool
	settled bool      // it was offered, or could not be
	conn    *conn     // the watcher's, while offered
	changes []*change // of the clients, oldest first
	waiting []func()  // commands that wait for the end of a change
}

func newTarget(b *Browser, p Page) *target {
	t := &target{browser: b, page: p}
	t.ctx, t.cancel = context.WithCancel(b.ctx)
	return t
}

// isTab reports whether the page is a tab, not a part of another page.
func (t *target) isTab() bool { return t.page.Parent == "" }

// Chromium has a target of type "tab" around each page, which Puppeteer requests.
// The page's endpoint does not report its id.
func (t *target) tabID() string { return "tab-" + t.info.ID }

func (t *target) tabInfo() targetInfo {
	i := t.info
	return targetInfo{ID: t.tabID(), Type: "tab", Title: i.Title, URL: i.URL, BrowserContextID: i.BrowserContextID}
}

// watch follows the page until it is dropped. If a connection breaks while the page
// still exists, watch reconnects: the debugger lives on, so the page may too.
func (t *target) watch() {
	defer t.browser.wg.Done()
	defer t.cancel()
	pause := backoff.Backoff{First: 50 * time.Millisecond, Max: 5 * time.Second}
	for t.ctx.Err() == nil {
		start := time.Now()
		if t.follow() && time.Since(start) > pause.Max {
			pause.Reset() // a page may offer itself and drop the connection each time
		}
		pause.Sleep(t.ctx)
	}
}

// follow connects once and offers the page as soon as it has reported its target
// info. It returns when the connection has ended.
func (t *target) follow() (offered bool) {
	b := t.browser
	c := b.newConn(t.page.URL, t.event)
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.run(ctx); t.ctx.Err() == nil {
			b.log.Debug("a page's connection ended", "page", t.page.Key, "error", err)
		}
	})
	if err := t.introduce(ctx, c); err != nil {
		b.log.Warn("a page does not report its target", "page", t.page.Key, "error", err)
		cancel()
	}
	running.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	offered = t.offered
	b.withdraw(t)
	t.settled = true
	b.changed.Notify()
	return offered
}

// introduce asks the page for its target info, and offers it.
func (t *target) introduce(ctx context.Context, c *conn) error {
	ctx, stop := context.WithTimeout(ctx, callTimeout)
	defer stop()
	events := []string{"Target.targetInfoChanged", "Page.frameNavigated"}
	t.browser.mu.Lock()
	c.start("JsDebug.subscribe", encode(subscription{Events: events}), nil)
	if t.isTab() {
		// The browser sends the events of all targets to each session that asked.
		// Only our own session receives them here; no session of the debugger does.
		c.start("Target.setDiscoverTargets", jsonv2.Value(`{"discover":true}`), nil)
	}
	t.browser.mu.Unlock()
	info, err := ask(ctx, c)
	if err != nil {
		return err
	}
	var v version
	if err := c.call(ctx, "Browser.getVersion", struct{}{}, &v); err != nil {
		t.browser.log.Debug("a page does not report its browser's version", "page", t.page.Key, "error", err)
	}
	t.browser.offer(t, c, info, v)
	// Changes between the response and the offer were missed.
	t.refresh(ctx)
	return nil
}

// refresh asks the page for its current target info.
func (t *target) refresh(ctx context.Context) {
	t.browser.mu.Lock()
	c := t.conn
	t.browser.mu.Unlock()
	if c == nil {
		return
	}
	if info, err := ask(ctx, c); err == nil {
		t.browser.mu.Lock()
		defer t.browser.mu.Unlock()
		t.changed(info)
	}
}

// ask asks a page for its target info. VS Code's integrated browser responds for
// the browser if no target is named; a page's target has the id of its main frame.
// A popup without a navigation has no URL in Chromium, but its document has.
// Puppeteer waits for a URL before it treats a page as open.
func ask(ctx context.Context, c *conn) (targetInfo, error) {
	var now infoParams
	err := c.call(ctx, "Target.getTargetInfo", struct{}{}, &now)
	if err == nil && now.Info.Type != "browser" && (now.Info.URL != "" || now.Info.Type != "page") {
		return now.Info, nil
	}
	var frames struct {
		Tree frameTree `json:"frameTree"`
	}
	if treeErr := c.call(ctx, "Page.getFrameTree", struct{}{}, &frames); treeErr != nil {
		return targetInfo{}, errors.Join(err, treeErr)
	}
	frame := frames.Tree.Frame
	if err == nil && now.Info.Type == "page" {
		now.Info.URL = urlOf(frame.URL)
		return now.Info, nil
	}
	if c.call(ctx, "Target.getTargetInfo", targetID{frame.ID}, &now) == nil && now.Info.ID == frame.ID {
		return now.Info, nil
	}
	return targetInfo{ID: frame.ID, Type: "page", Title: frame.URL, URL: frame.URL, Attached: true}, nil
}

// urlOf is the URL of a document: the initial one of a page has none.
func urlOf(document string) string {
	if document == "" || document == ":" {
		return "about:blank"
	}
	return document
}

// changed stores the page's current target info. mu is held.
func (t *target) changed(info targetInfo) {
	b := t.browser
	if info.URL == "" {
		info.URL = t.info.URL
	}
	if t.offered && info.ID == t.info.ID && info != t.info {
		t.info = info
		b.emitChanged(t)
		b.changed.Notify()
	}
}

// event handles the browser's events on targets. mu is held.
func (t *target) event(method string, params jsonv2.Value) {
	switch method {
	case "Target.targetInfoChanged":
		var e infoParams
		if jsonv2.Unmarshal(params, &e, lenient) == nil {
			t.changed(e.Info)
		}
	case "Page.frameNavigated":
		var e struct {
			Frame frame `json:"frame"`
		}
		if jsonv2.Unmarshal(params, &e, lenient) == nil && e.Frame.Parent == "" {
			t.navigated(e.Frame)
		}
	}
}

// navigated handles a page's new document, which not every browser reports as a change
// of the target. mu is held.
func (t *target) navigated(f frame) {
	info := t.info
	if info.URL != f.URL+f.Fragment {
		info.URL = f.URL + f.Fragment
		info.Title = info.URL
		t.changed(info)
	}
}

func (t *target) id() string {
	t.browser.mu.Lock()
	defer t.browser.mu.Unlock()
	return t.info.ID
}
