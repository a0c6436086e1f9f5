package virtual

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/discovery"
)

// What follows implements browser.Browser.

const (
	// pageTimeout bounds how long a request waits for the first page.
	pageTimeout = 15 * time.Second
	// offerTimeout bounds how long a new page may take until the debugger has it and
	// shares its session.
	offerTimeout = 20 * time.Second
)

var errNoPage = errors.New("the debugger has no page that answers")

// Product is the version that the first page has reported.
func (b *Browser) Product(ctx context.Context) (v discovery.Product, err error) {
	if err := b.ready(ctx); err != nil {
		return v, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.version != nil {
		v = *b.version
	}
	return v, nil
}

// Targets lists the pages and their parts.
func (b *Browser) Targets(ctx context.Context) (list []discovery.Target, err error) {
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	b.refresh(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.order {
		list = append(list, b.describe(t))
	}
	return list, nil
}

// describe is called with mu held.
func (b *Browser) describe(t *target) discovery.Target {
	d := discovery.Target{ID: t.info.ID, Title: t.info.Title, Type: t.info.Type, URL: t.info.URL}
	if parent := b.targets[t.page.Parent]; parent != nil {
		d.Parent = parent.info.ID
	}
	return d
}

// OpenPage opens a page.
func (b *Browser) OpenPage(ctx context.Context, address string) (discovery.Target, error) {
	if err := b.ready(ctx); err != nil {
		return discovery.Target{}, err
	}
	t, err := b.create(ctx, encode(struct {
		URL string `json:"url"`
	}{address}))
	if err != nil {
		return discovery.Target{}, err
	}
	t.refresh(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.describe(t), nil
}

// create opens a page through an existing one, and returns when the page can be used:
// the debugger attaches to it first.
func (b *Browser) create(ctx context.Context, params jsonv2.Value) (*target, error) {
	b.mu.Lock()
	first := b.first()
	var page *conn
	if first != nil {
		page = first.conn
	}
	b.mu.Unlock()
	if page == nil {
		return nil, errors.New("a new page needs another one that the debugger has, and it has none now")
	}
	if len(params) == 0 {
		params = empty
	}
	calling, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var created targetID
	if err := page.call(calling, "Target.createTarget", params, &created); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, offerTimeout)
	defer cancel()
	t, err := b.await(waiting, func() *target {
		t, tab := b.byID(created.ID)
		if tab {
			return nil
		}
		return t
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.New("the page was opened, but the debugger has not attached to it, so it cannot be " +
			"driven from here")
	}
	return t, err
}

// Act closes or activates a page.
func (b *Browser) Act(ctx context.Context, method, target string) error {
	if err := b.ready(ctx); err != nil {
		return err
	}
	_, err := b.act(ctx, method, target)
	return err
}

// act closes or activates a page through the page's own connection.
func (b *Browser) act(ctx context.Context, method, id string) (result jsonv2.Value, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	b.mu.Lock()
	t, _ := b.byID(id)
	var via *conn
	if t != nil {
		id, via = t.info.ID, t.conn
	}
	b.mu.Unlock()
	if via == nil {
		return nil, browser.ErrNoTarget
	}
	err = via.call(ctx, method, targetID{id}, &result)
	if errors.Is(err, errGone) && method == "Target.closeTarget" {
		return jsonv2.Value(`{"success":true}`), nil // the page closed before its response
	}
	return result, err
}

// Open connects a client to a page, or to the browser.
func (b *Browser) Open(ctx context.Context, page string, downstream browser.Client) (browser.Conn, error) {
	_ = b.ready(ctx) // a client of the browser may wait for its first page
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending.Err() != nil {
		return nil, errClosed
	}
	var t *target
	if page != "" {
		var tab bool
		if t, tab = b.byID(page); t == nil || tab {
			return nil, browser.ErrNoTarget
		}
	}
	b.joined.Add(1)
	return newClient(b, downstream, t), nil
}
