package page

import (
	"browser-coordinator/coordinator/page/address"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/page/routing"
)

const (
	defaultActionTimeout   = 5 * time.Second
	defaultNavigateTimeout = 30 * time.Second
	defaultCallTimeout     = 10 * time.Second
	defaultConsoleSize     = 1000
	defaultNetworkSize     = 1000
	// eventQueue is how many unhandled events of the whole browser may queue up.
	eventQueue = 16384
)

// Browser is one connection to a browser and the pages that are attached over it.
type Browser struct {
	conn *cdp.Conn
	opts Options
	log  *slog.Logger
	sub  *cdp.Subscription
	done chan struct{} // closed by eventLoop when it has ended
	// router holds the network settings that this connection makes for its pages.
	router  *routing.Router
	sources *sources
	// running counts the goroutines of this connection; Close waits for them.
	running sync.WaitGroup

	recordings profiling.Recordings

	// mu guards the fields that follow. Lock order: Browser.mu, then Page.mu.
	mu       sync.Mutex
	opened   map[target.ID]*target.Info // pages that have opened, in targetSeq's order
	seq      int64                      // counts opened pages
	openedAt map[target.ID]int64
	pages    map[target.ID]*attachment
	sessions map[target.SessionID]*Page // of pages and of their frames in other processes
	scripts  map[*ownScript]bool        // running, or without a caller that waits
	downloads
}

// attachment is a page that is attached, or that one caller attaches while others
// wait.
type attachment struct {
	ready chan struct{} // closed when page or err is set
	page  *Page
	err   error
}

// Connect connects to a browser by its CDP URL (http or ws).
func Connect(ctx context.Context, url string, opts *Options) (*Browser, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	setDefault(&o.ActionTimeout, defaultActionTimeout)
	setDefault(&o.NavigateTimeout, defaultNavigateTimeout)
	setDefault(&o.CallTimeout, defaultCallTimeout)
	if o.Refs == nil {
		o.Refs = new(frame.Refs)
	}
	setDefault(&o.ConsoleSize, defaultConsoleSize)
	setDefault(&o.NetworkSize, defaultNetworkSize)

	// A virtual browser names its clients to each other.
	name := http.Header{"User-Agent": {"Browser-Coordinator"}}
	conn, err := cdp.Dial(ctx, url, &cdp.Options{Logger: o.Logger, Header: name, QueueSize: eventQueue, CallTimeout: o.CallTimeout, Remote: o.Remote})
	if err != nil {
		return nil, err
	}
	b := &Browser{
		conn: conn, opts: o, log: o.Logger,
		sub:       conn.ListenAll(handledEvents()...),
		done:      make(chan struct{}),
		opened:    map[target.ID]*target.Info{},
		openedAt:  map[target.ID]int64{},
		pages:     map[target.ID]*attachment{},
		sessions:  map[target.SessionID]*Page{},
		scripts:   map[*ownScript]bool{},
		downloads: downloads{coming: map[string]*browser.EventDownloadWillBegin{}},
	}
	b.router = routing.New(routing.Options{Conn: conn, CallTimeout: o.CallTimeout, Logger: o.Logger})
	b.sources = &sources{folders: o.Folders, scripts: map[string]*script{}}
	go b.eventLoop()
	ctx, cancel := context.WithTimeout(ctx, o.CallTimeout)
	defer cancel()
	if _, err := protocol.Call(ctx, conn, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true}); err != nil {
		b.Close()
		return nil, fmt.Errorf("watch the browser's pages: %w", err)
	}
	if o.Downloads != nil {
		if err := b.takeDownloads(ctx); err != nil {
			b.Close()
			return nil, fmt.Errorf("take the browser's downloads: %w", err)
		}
	}
	return b, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Done is closed when the connection has ended.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Close ends the connection. The browser and its pages stay open.
func (b *Browser) Close() error {
	b.endScripts()
	err := b.conn.Close()
	<-b.done
	b.router.Wait()
	b.running.Wait()
	return err
}

// Pages lists the pages in the order in which this connection saw them open.
// The browser's own order changes with the page in front.
func (b *Browser) Pages(ctx context.Context) ([]Info, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	r, err := protocol.Call(ctx, b.conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, fmt.Errorf("list the pages: %w", b.translate(err))
	}
	var pages []Info
	for _, t := range r.TargetInfos {
		if isPage(t) {
			pages = append(pages, pageInfo(t))
		}
	}
	b.flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	place := func(p Info) int64 {
		if at, seen := b.openedAt[target.ID(p.ID)]; seen {
			return at
		}
		return math.MaxInt64
	}
	slices.SortStableFunc(pages, func(x, y Info) int { return cmp.Compare(place(x), place(y)) })
	return pages, nil
}

// isPage excludes targets that are not a tab of the user: browser_ui popups have a
// type of their own, prerendered pages a subtype, DevTools a scheme.
func isPage(t *target.Info) bool {
	const devtools = "devtools://"
	return t.Type == "page" && t.Subtype == "" && (len(t.URL) < len(devtools) || t.URL[:len(devtools)] != devtools)
}

func pageInfo(t *target.Info) Info {
	return Info{ID: string(t.TargetID), Title: t.Title, URL: t.URL, OpenerID: string(t.OpenerID)}
}

// Known returns a page that is attached already, or nil if there is none with that
// id. It sends no command.
func (b *Browser) Known(id string) *Page {
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

// Page attaches to a page, once per connection, and applies the network settings to it.
func (b *Browser) Page(ctx context.Context, id string) (*Page, error) {
	p, err := b.join(ctx, target.ID(id))
	if err != nil {
		return p, err
	}
	if err := b.router.Use(ctx, host{p}); err != nil {
		return nil, fmt.Errorf("attach to page %s: %w", id, b.translate(err))
	}
	return p, nil
}

// join attaches to a page, once per connection.
func (b *Browser) join(ctx context.Context, id target.ID) (*Page, error) {
	b.mu.Lock()
	a := b.pages[id]
	if a == nil {
		a = &attachment{ready: make(chan struct{})}
		b.pages[id] = a
		b.mu.Unlock()
		a.page, a.err = b.attach(ctx, id)
		if a.err != nil {
			b.mu.Lock()
			delete(b.pages, id)
			b.mu.Unlock()
		}
		close(a.ready)
		return a.page, a.err
	}
	b.mu.Unlock()
	select {
	case <-a.ready:
		return a.page, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("attach to page %s: %w", id, context.Cause(ctx))
	}
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

// Current returns the page that the user sees: a visible one, else the
// first, else a new one. It does not bring the page to the front.
func (b *Browser) Current(ctx context.Context) (*Page, error) {
	id, err := b.InFront(ctx)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return b.NewPage(ctx, "about:blank")
	}
	return b.Page(ctx, id)
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

// flush waits until the events received so far are handled. The event
// loop never blocks, so neither does flush.
func (b *Browser) flush() {
	done := make(chan struct{})
	if !b.sub.Mark(done) {
		return
	}
	select {
	case <-done:
	case <-b.done:
	}
}

// refElsewhere finds the page, other than the given one, that a ref belongs to.
func (b *Browser) refElsewhere(than *Page, n int) (label, address string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.sessions {
		if p == than {
			continue
		}
		if label, ok = p.frames.Label(n); ok {
			return label, p.frames.URL(), true
		}
	}
	return "", "", false
}

// visibleTimeout bounds the request to each page: a hung page must not delay
// the others.
const visibleTimeout = 500 * time.Millisecond

// record attaches to a page that has appeared, for its console and network.
// Other callers of join share the attachment. A hung page delays no other page.
func (b *Browser) record(id target.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), b.opts.CallTimeout)
	defer cancel()
	if _, err := b.join(ctx, id); err != nil {
		b.log.Debug("page: not recorded", "page", id, "err", err)
	}
}

// visible queries all pages at once. It detaches each session again, so that nothing
// is recorded of pages that are not used.
func (b *Browser) visible(ctx context.Context, pages []Info) string {
	ctx, cancel := context.WithTimeout(ctx, visibleTimeout)
	defer cancel()
	seen, behind := make([]bool, len(pages)), make([]bool, len(pages))
	var asked sync.WaitGroup
	for i, p := range pages {
		asked.Go(func() { seen[i], behind[i] = b.askVisible(ctx, target.ID(p.ID)) })
	}
	asked.Wait()
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

// detach ends a session without waiting for the response.
func (b *Browser) detach(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := b.conn.Start(ctx, "Target.detachFromTarget", target.DetachFromTargetParams{SessionID: s.ID()}); err != nil {
		b.log.Debug("page: detach", "err", err)
	}
}

// NewPage opens a page in the background and attaches to it.
func (b *Browser) NewPage(ctx context.Context, url string) (*Page, error) {
	url, err := address.Normalize(url, "")
	if err != nil {
		return nil, err
	}
	callCtx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	// The page opens blank and navigates later: its console is recorded from the start,
	// and a failure to load is reported.
	r, err := protocol.Call(callCtx, b.conn, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", Background: new(true)})
	if err != nil {
		return nil, fmt.Errorf("open a page: %w", b.translate(err))
	}
	p, err := b.Page(ctx, string(r.TargetID))
	if err != nil || url == "about:blank" {
		return p, err
	}
	if _, err := p.Navigate(ctx, url); err != nil {
		return p, err
	}
	return p, nil
}

// ClosePage closes a page without running its beforeunload handlers.
func (b *Browser) ClosePage(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	if _, err := protocol.Call(ctx, b.conn, target.CloseTarget, target.CloseTargetParams{TargetID: target.ID(id)}); err != nil {
		return fmt.Errorf("close page %s: %w", id, b.translate(err))
	}
	return nil
}

// Activate brings a page to the front. Call it only when a user or agent requests it.
func (b *Browser) Activate(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	if _, err := protocol.Call(ctx, b.conn, target.ActivateTarget, target.ActivateTargetParams{TargetID: target.ID(id)}); err != nil {
		return fmt.Errorf("activate page %s: %w", id, b.translate(err))
	}
	return nil
}

// translate maps errors of the connection to errors of this package.
func (b *Browser) translate(err error) error {
	switch {
	case errors.Is(err, cdp.ErrClosed):
		return fmt.Errorf("%w: %w", ErrBrowserGone, err)
	case errors.Is(err, cdp.ErrTargetCrashed):
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	case errors.Is(err, cdp.ErrSessionGone):
		return fmt.Errorf("%w: %w", ErrPageClosed, err)
	}
	return err
}
