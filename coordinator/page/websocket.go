package page

import (
	"time"

	"github.com/chromedp/cdproto/network"

	"browser-coordinator/coordinator/cdp"
)

// A WebSocket is a request of its own kind: it is answered when it is open, and done
// when it is closed. Its messages are not kept; most pages have too many of them.

const webSocketType = "websocket"

func (p *Page) socketCreated(s *cdp.Session, e *network.EventWebSocketCreated) {
	sent := &entry{
		Request: Request{Method: "GET", URL: e.URL, Type: webSocketType, MIMEType: webSocketType, Size: -1, Started: time.Now()},
		id:      e.RequestID, session: s,
	}
	p.requests.add(sent)
	p.requests.open[keyOf(s, e.RequestID)] = sent
}

func (p *Page) socketSent(s *cdp.Session, e *network.EventWebSocketWillSendHandshakeRequest) {
	if r := p.requests.open[keyOf(s, e.RequestID)]; r != nil {
		r.began = e.Timestamp
		if e.Request != nil {
			r.requestHeaders = e.Request.Headers
		}
	}
}

func (p *Page) socketAnswered(s *cdp.Session, e *network.EventWebSocketHandshakeResponseReceived) {
	if r := p.requests.open[keyOf(s, e.RequestID)]; r != nil && e.Response != nil {
		r.Status, r.responseHeaders = int(e.Response.Status), e.Response.Headers
		if e.Response.RequestHeaders != nil {
			r.requestHeaders = e.Response.RequestHeaders
		}
	}
}

func (p *Page) socketFailed(s *cdp.Session, e *network.EventWebSocketFrameError) {
	if r := p.requests.open[keyOf(s, e.RequestID)]; r != nil {
		r.Failed = e.ErrorMessage
	}
}

func (p *Page) socketClosed(s *cdp.Session, e *network.EventWebSocketClosed) {
	key := keyOf(s, e.RequestID)
	r := p.requests.open[key]
	delete(p.requests.open, key)
	if r == nil {
		return
	}
	if r.Status == 0 && r.Failed == "" {
		r.Failed = "it was closed before it was open"
	}
	if r.began == 0 {
		r.began = e.Timestamp
	}
	r.finish(e.Timestamp)
}
