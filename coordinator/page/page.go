package page

import (
	"context"
	"net/url"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/page/sources"
)

// Page is one attached page. Its methods may be called from any goroutine.
// The caller must order actions that depend on one another.
type Page struct {
	id         target.ID
	connection *connection
	session    *cdp.Session // of the page itself; frames may have their own
	frames     *frame.Tree

	state      *state
	operations *operations
	observer   *observer
	scripts    *scripts

	reader    *snapshot.Reader
	input     *input.Input
	emulation *emulation.Emulation
	history   *history.History
	guard     *guard.Guard
	screen    *capture.Screen
	sources   *sources.Sources
	picker    *pick.Picker
}

// ID is the page's CDP target id.
func (p *Page) ID() string { return string(p.id) }

// Session is the page's own session, for CDP commands without a method in this package.
func (p *Page) Session() *cdp.Session { return p.session }

// Info returns the page's title and URL now.
func (p *Page) Info(ctx context.Context) (Info, error) {
	r, err := protocol.Call(ctx, p.connection.conn, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: target.ID(p.ID())})
	if err != nil {
		return Info{}, p.operations.explain(err, "reading the page's title")
	}
	return p.connection.targets.one(r.TargetInfo), nil
}

// Dialog returns the open dialog, or nil.
func (p *Page) Dialog() *Dialog {
	return p.state.openDialog()
}

// URL is the URL of the main frame. For a page that has not responded yet, it is the one
// that the browser reports.
func (p *Page) URL() string {
	if url := p.frames.URL(); url != "" {
		return url
	}
	return p.connection.targets.url(p.ID())
}

// Host is the host name of that URL; empty for a URL without one.
func (p *Page) Host() string {
	u, err := url.Parse(p.URL())
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// LearnURL reads the frames of a page that did not respond when it was attached to. If it
// still does not respond, only its URL is known. An error means that nothing is.
func (p *Page) LearnURL(ctx context.Context) error {
	if p.frames.URL() != "" {
		return nil
	}
	if err := p.readFrames(ctx); err != nil && p.URL() == "" {
		return p.operations.explain(err, "reading the page's URL")
	}
	return nil
}

// Addresses are the URLs of the page's frames, the main frame's first, and of files
// that the page had loaded before it was guarded.
func (p *Page) Addresses() []string {
	addresses := []string{p.URL()}
	for _, f := range p.frames.All()[1:] {
		addresses = append(addresses, f.URL)
	}
	return append(addresses, p.guard.Early(p.state.documents())...)
}

// LimitFrames is [frame.Tree.Limit] for the page's frames.
func (p *Page) LimitFrames(check func(address string) error) { p.frames.Limit(check) }

// Folders are the workspace folders of the connection.
func (p *Page) Folders() []string { return p.connection.opts.Folders }

// Opened reports whether another page has opened this one.
func (p *Page) Opened() bool { return p.connection.targets.opener(p.ID()) != "" }
