package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/page/routing"
)

// Pages lists the pages in the order in which this connection saw them open.
// The browser's own order changes with the page in front.
func (b *Browser) Pages(ctx context.Context) ([]Info, error) {
	r, err := protocol.Call(ctx, b.conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, fmt.Errorf("list the pages: %w", translate(err))
	}
	b.flush()
	notPage := func(t *target.Info) bool { return !isPage(t) }
	return b.targets.list(slices.DeleteFunc(r.TargetInfos, notPage)), nil
}

// Attached returns a page that is attached already, or nil if there is none with that
// id. It sends no command.
func (b *Browser) Attached(id string) *Page {
	b.mu.Lock()
	at := b.pages[target.ID(id)]
	b.mu.Unlock()
	if at == nil {
		return nil
	}
	select {
	case <-at.ready:
		return at.page
	default:
		return nil
	}
}

// Page attaches to a page, once per connection. It applies the network settings to it, if it is one of
// the agent's own now, and removes them from those that no longer are.
func (b *Browser) Page(ctx context.Context, id string) (*Page, error) {
	p, err := b.join(ctx, target.ID(id))
	if err != nil {
		return p, err
	}
	if err := b.router.Sync(ctx, p.emulation); err != nil {
		return nil, fmt.Errorf("attach to page %s: %w", id, translate(err))
	}
	return p, nil
}

// Watch attaches to all open pages and returns how many there are. [Options].Record
// attaches to them by itself, but only some time after they appear.
func (b *Browser) Watch(ctx context.Context) (int, error) {
	pages, err := b.Pages(ctx)
	for _, p := range pages {
		_, joined := b.join(ctx, target.ID(p.ID))
		err = errors.Join(err, joined)
	}
	return len(pages), err
}

// InFront returns the id of the page that the user sees, else of the
// first. It is empty if the browser has no page.
func (b *Browser) InFront(ctx context.Context) (string, error) {
	pages, err := b.Pages(ctx)
	switch {
	case err != nil || len(pages) == 0:
		return "", err
	case len(pages) == 1:
		return pages[0].ID, nil
	}
	if id := b.visible(ctx, pages); id != "" {
		return id, nil
	}
	return pages[0].ID, nil
}

// visible queries all pages at once, and waits for no page that hangs. It detaches each
// session again, so that nothing is recorded of pages that are not used.
func (b *Browser) visible(ctx context.Context, pages []Info) string {
	ctx, cancel := context.WithTimeout(ctx, briefTimeout)
	defer cancel()
	seen, behind := make([]bool, len(pages)), make([]bool, len(pages))
	var questions sync.WaitGroup
	for i, p := range pages {
		questions.Go(func() { seen[i], behind[i] = b.askVisible(ctx, target.ID(p.ID)) })
	}
	questions.Wait()
	// A page that only emulates visibility comes last: the user may have left it.
	for _, believed := range []bool{false, true} {
		for i, p := range pages {
			if seen[i] && behind[i] == believed {
				return p.ID
			}
		}
	}
	return ""
}

// OpenTab opens a blank page in the background, and returns its id.
func (b *Browser) OpenTab(ctx context.Context) (string, error) {
	params := target.CreateTargetParams{URL: "about:blank", Background: new(true)}
	r, err := protocol.Call(ctx, b.conn, target.CreateTarget, params)
	if err != nil {
		return "", fmt.Errorf("open a page: %w", translate(err))
	}
	return string(r.TargetID), nil
}

// Arrive waits until the document of a page that has just opened is parsed, within limits.
func (p *Page) Arrive(ctx context.Context) {
	_ = p.life.AwaitFor(ctx, respondTimeout, func() bool {
		url := p.frames.URL()
		return p.life.Reached(lifecycle.Parsed) && (url != "" && url != "about:blank" ||
			url == p.browser.targets.url(p.ID()))
	})
}

// ClosePage closes a page without running its beforeunload handlers. The browser accepts
// that before the page has ended; ClosePage waits for the end, within limits.
func (b *Browser) ClosePage(ctx context.Context, id string) error {
	destroyed := b.conn.Listen(target.TargetDestroyed.Method)
	defer destroyed.Close()
	params := target.CloseTargetParams{TargetID: target.ID(id)}
	if _, err := protocol.Call(ctx, b.conn, target.CloseTarget, params); err != nil {
		return fmt.Errorf("close page %s: %w", id, translate(err))
	}
	ctx, cancel := context.WithTimeout(ctx, unloadTimeout)
	defer cancel()
	for {
		select {
		case e, more := <-destroyed.C():
			var closed target.EventTargetDestroyed
			if !more || e.Decode(&closed) == nil && closed.TargetID == target.ID(id) {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// Activate brings a page to the front. Call it only when a user or agent requests it.
func (b *Browser) Activate(ctx context.Context, id string) error {
	params := target.ActivateTargetParams{TargetID: target.ID(id)}
	if _, err := protocol.Call(ctx, b.conn, target.ActivateTarget, params); err != nil {
		return fmt.Errorf("activate page %s: %w", id, translate(err))
	}
	return nil
}

// askVisible reports whether a page is visible, and whether it only believes so
// because a connection emulates its focus.
func (b *Browser) askVisible(ctx context.Context, id target.ID) (visible, behind bool) {
	s, err := b.conn.Attach(ctx, id)
	if err != nil {
		return false, false
	}
	defer b.detach(s)
	created := s.Listen(runtime.ExecutionContextCreated.Method)
	// The response comes after an event for each existing world.
	if err := s.Call(ctx, runtime.CommandEnable, nil, nil); err != nil {
		created.Close()
		return false, false
	}
	created.Close()
	for e := range created.C() {
		var made runtime.EventExecutionContextCreated
		if e.Decode(&made) == nil && made.Context != nil && frame.IsBehind(made.Context.Name) {
			behind = true
		}
	}
	tree, err := protocol.Call(ctx, s, cdppage.GetFrameTree, protocol.Empty{})
	if err != nil {
		return false, false
	}
	visible, err = capture.IsVisible(ctx, s, tree.FrameTree.Frame.ID)
	return err == nil && visible, behind
}

// Product is the browser's name and version.
func (b *Browser) Product(ctx context.Context) (string, error) {
	version, err := protocol.Call(ctx, b.conn, browser.GetVersion, protocol.Empty{})
	if err != nil {
		return "", fmt.Errorf("cannot read the browser's version: %w", err)
	}
	return version.Product, nil
}

// Recordings are the recordings of this connection.
func (b *Browser) Recordings() *profiling.Recordings { return &b.recordings }

// Routing is the network settings of this connection: routes, and offline mode.
func (b *Browser) Routing() *routing.Router { return b.router }
