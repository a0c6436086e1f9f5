// Package history records what a page has logged and requested: its console messages
// and its network requests. It includes those from before the attachment, as far as the
// browser and the documents still report them.
package history

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// Page is the part of a page that this package needs. This package holds no lock while it
// calls a method of Page.
type Page interface {
	ID() string
	// Run runs an operation on the page and explains its error; limit 0: that of any call.
	Run(ctx context.Context, doing string, limit time.Duration, do func(context.Context) error) error
	// RunUnwatched is Run for operations that may be slow. It does not probe the page for the
	// reason, and returns the operation's own error.
	RunUnwatched(ctx context.Context, doing string, do func(context.Context) error) error
	// Wake makes all waiters for a state of the page check it again.
	Wake()
}

// Options of a History. All are required.
type Options struct {
	Session     *cdp.Session // of the page
	Frames      *frame.Tree  // of the page; it must handle events before this package does
	ConsoleSize int          // messages that are kept
	NetworkSize int          // requests that are kept
	Flush       func()       // waits until the events received so far are handled
	Go          func(func()) // starts a goroutine that the connection waits for
	Logger      *slog.Logger
}

// History is the console messages and the requests of one page.
type History struct {
	Console *Console
	Network *Network
}

// New returns the history of a page after its attachment.
func New(page Page, opts Options) *History {
	return &History{
		Console: &Console{size: opts.ConsoleSize, frames: opts.Frames, flush: opts.Flush},
		Network: newNetwork(page, opts),
	}
}

// Events are the methods of the events that Handle accepts.
func Events() []string { return slices.Collect(maps.Keys(events)) }

// Handle handles one of Events of a session of the page. The events must keep their order.
func (h *History) Handle(s *cdp.Session, e cdp.Event) error { return events[e.Method](h, s, e) }

var events = map[string]func(*History, *cdp.Session, cdp.Event) error{
	runtime.ConsoleAPICalled.Method:                   onConsole((*Console).called),
	runtime.ExceptionThrown.Method:                    onConsole((*Console).exceptionThrown),
	log.EntryAdded.Method:                             entryAdded,
	network.RequestWillBeSent.Method:                  onNetwork((*Network).requestSent),
	network.ResponseReceived.Method:                   onNetwork((*Network).responseReceived),
	network.LoadingFinished.Method:                    onNetwork((*Network).requestFinished),
	network.LoadingFailed.Method:                      onNetwork((*Network).requestFailed),
	network.WebSocketCreated.Method:                   onNetwork((*Network).socketCreated),
	network.WebSocketWillSendHandshakeRequest.Method:  onNetwork((*Network).socketSent),
	network.WebSocketHandshakeResponseReceived.Method: onNetwork((*Network).socketOpened),
	network.WebSocketFrameError.Method:                onNetwork((*Network).socketFailed),
	network.WebSocketClosed.Method:                    onNetwork((*Network).socketClosed),
}

// onConsole decodes an event and calls f with Console.mu held.
func onConsole[E any](f func(*Console, *cdp.Session, *E)) func(*History, *cdp.Session, cdp.Event) error {
	return func(h *History, s *cdp.Session, raw cdp.Event) error {
		e := new(E)
		if err := raw.Decode(e); err != nil {
			return err
		}
		h.Console.mu.Lock()
		defer h.Console.mu.Unlock()
		f(h.Console, s, e)
		return nil
	}
}

// onNetwork decodes an event and calls f with Network.mu held.
func onNetwork[E any](f func(*Network, *cdp.Session, *E)) func(*History, *cdp.Session, cdp.Event) error {
	return func(h *History, s *cdp.Session, raw cdp.Event) error {
		e := new(E)
		if err := raw.Decode(e); err != nil {
			return err
		}
		h.Network.mu.Lock()
		defer h.Network.mu.Unlock()
		f(h.Network, s, e)
		return nil
	}
}

// entryAdded handles an entry of the browser's log, which may complete a request.
func entryAdded(h *History, s *cdp.Session, raw cdp.Event) error {
	if err := onNetwork((*Network).entryAdded)(h, s, raw); err != nil {
		return err
	}
	return onConsole((*Console).entryAdded)(h, s, raw)
}

// DocumentCommitted records that the main frame shows another document.
func (h *History) DocumentCommitted() {
	h.Console.mu.Lock()
	h.Console.documents++
	h.Console.mu.Unlock()
	h.Network.mu.Lock()
	h.Network.documents++
	h.Network.mu.Unlock()
}

// AddressKnown adds the page's URL to entries from before it was known.
func (h *History) AddressKnown(url string) {
	h.Console.mu.Lock()
	for i := range h.Console.messages {
		if m := &h.Console.messages[i]; m.Documents[0] == "" {
			m.Documents[0] = url
		}
	}
	h.Console.mu.Unlock()
	h.Network.mu.Lock()
	defer h.Network.mu.Unlock()
	for _, e := range h.Network.log.entries {
		if e.Documents == [2]string{} && !e.Navigation {
			e.Documents[0] = url
		}
	}
}

// documents are the URLs of the page and of a session's frame in it.
func documents(frames *frame.Tree, s *cdp.Session) [2]string {
	f, _ := frames.RootOf(s)
	return [2]string{frames.URL(), f.URL}
}
