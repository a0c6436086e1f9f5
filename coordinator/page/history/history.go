// Package history records what a page has logged and requested: its console messages
// and its network requests. It includes those from before the attachment, as far as the
// browser and the documents still report them.
package history

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Options of a History. All are required. This package holds no lock while it calls any of them.
type Options struct {
	Run         lifecycle.Run
	Lifecycle   *lifecycle.Lifecycle
	Conn        *cdp.Conn
	Session     *cdp.Session  // of the page
	Frames      *frame.Tree   // of the page; it must handle events before this package does
	ConsoleSize int           // messages that are kept
	NetworkSize int           // requests that are kept
	PastTimeout time.Duration // for the documents to report past requests
	Logger      *slog.Logger
	// Go starts a goroutine that the browser's connection waits for. It fails once that has ended.
	Go func(func()) error
}

// History is the console messages and the requests of one page.
type History struct {
	Console *Console
	Network *Network

	frames *frame.Tree

	mu       sync.Mutex // guards document, and the state of both parts
	document int        // counts the documents that the main frame has shown
}

// New returns the history of a page after its attachment.
func New(opts Options) *History {
	h := &History{frames: opts.Frames}
	h.Console = &Console{size: opts.ConsoleSize, history: h}
	h.Network = newNetwork(h, opts)
	return h
}

// Events are the methods of the events that Handle accepts.
func Events() []string { return slices.Collect(maps.Keys(events)) }

// Handle handles one of Events of a session of the page. The events must keep their order.
func (h *History) Handle(s *cdp.Session, e cdp.Event) error { return events[e.Method](h, s, e) }

var events = map[string]func(*History, *cdp.Session, cdp.Event) error{
	runtime.ConsoleAPICalled.Method:                   handler(console, (*Console).called),
	runtime.ExceptionThrown.Method:                    handler(console, (*Console).exceptionThrown),
	log.EntryAdded.Method:                             handler(both, (*History).entryAdded),
	network.RequestWillBeSent.Method:                  handler(requests, (*Network).requestSent),
	network.RequestWillBeSentExtraInfo.Method:         handler(requests, (*Network).headersSent),
	network.ResponseReceivedExtraInfo.Method:          handler(requests, (*Network).headersReceived),
	network.ResponseReceived.Method:                   handler(requests, (*Network).responseReceived),
	network.DataReceived.Method:                       handler(requests, (*Network).dataReceived),
	network.EventSourceMessageReceived.Method:         handler(requests, (*Network).eventReceived),
	network.LoadingFinished.Method:                    handler(requests, (*Network).requestFinished),
	network.LoadingFailed.Method:                      handler(requests, (*Network).requestFailed),
	network.WebSocketCreated.Method:                   handler(requests, (*Network).socketCreated),
	network.WebSocketWillSendHandshakeRequest.Method:  handler(requests, (*Network).socketSent),
	network.WebSocketHandshakeResponseReceived.Method: handler(requests, (*Network).socketOpened),
	network.WebSocketFrameSent.Method:                 handler(requests, (*Network).messageSent),
	network.WebSocketFrameReceived.Method:             handler(requests, (*Network).messageReceived),
	network.WebSocketFrameError.Method:                handler(requests, (*Network).socketFailed),
	network.WebSocketClosed.Method:                    handler(requests, (*Network).socketClosed),
}

func both(h *History) *History     { return h }
func console(h *History) *Console  { return h.Console }
func requests(h *History) *Network { return h.Network }

// handler decodes an event and calls f with that part of the history; mu is held.
func handler[P, E any](
	part func(*History) *P, f func(*P, *cdp.Session, *E),
) func(*History, *cdp.Session, cdp.Event) error {
	return func(h *History, s *cdp.Session, raw cdp.Event) error {
		e := new(E)
		if err := raw.Decode(e); err != nil {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		f(part(h), s, e)
		return nil
	}
}

// entryAdded handles an entry of the browser's log, which may complete a request.
func (h *History) entryAdded(s *cdp.Session, e *log.EventEntryAdded) {
	if id := e.Entry.NetworkRequestID; id != "" {
		h.Network.log.failedAt(s, id, e.Entry.URL, timeOf(e.Entry.Timestamp))
	}
	h.Console.entryAdded(s, e)
}

// DocumentCommitted records that the main frame shows another document, which has that loader.
func (h *History) DocumentCommitted(loader protocol.LoaderID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.document++
	for _, e := range h.Network.log.entries { // a navigation's request has the id of its loader
		e.Opened = e.Opened || e.Navigation && string(e.id) == string(loader)
	}
}

// AddressKnown adds the page's URL to entries from before it was known.
func (h *History) AddressKnown(url string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.Console.messages {
		if m := &h.Console.messages[i]; m.Documents[0] == "" {
			m.Documents[0] = url
		}
	}
	for _, e := range h.Network.log.entries {
		if e.Documents == [2]string{} && !e.Navigation {
			e.Documents[0] = url
		}
	}
}

// documents are the URLs of the page and of a session's frame in it.
func (h *History) documents(s *cdp.Session) [2]string {
	f, _ := h.frames.RootOf(s)
	return [2]string{h.frames.URL(), f.URL}
}
