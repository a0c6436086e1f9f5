package history

import (
	"time"

	"github.com/chromedp/cdproto/network"

	"browser-coordinator/coordinator/cdp"
)

// A WebSocket is a request of its own kind: it has its response when it is open, and is done
// when it is closed. Its messages are not kept; most pages have too many of them.

const webSocketType = "websocket"

func (n *Network) socketCreated(s *cdp.Session, e *network.EventWebSocketCreated) {
	sent := &entry{
		Request: Request{
			Method: "GET", URL: e.URL, Type: webSocketType, MIMEType: webSocketType, Size: -1, Started: time.Now(),
			Calls: callsOf(e.Initiator),
		},
		id: e.RequestID, session: s,
	}
	n.log.add(sent)
	n.log.open[keyOf(s, e.RequestID)] = sent
}

func (n *Network) socketSent(s *cdp.Session, e *network.EventWebSocketWillSendHandshakeRequest) {
	if r := n.log.open[keyOf(s, e.RequestID)]; r != nil {
		r.began = e.Timestamp
		if e.Request != nil {
			r.requestHeaders = e.Request.Headers
		}
	}
}

func (n *Network) socketOpened(s *cdp.Session, e *network.EventWebSocketHandshakeResponseReceived) {
	if r := n.log.open[keyOf(s, e.RequestID)]; r != nil && e.Response != nil {
		r.Status, r.responseHeaders = int(e.Response.Status), e.Response.Headers
		if e.Response.RequestHeaders != nil {
			r.requestHeaders = e.Response.RequestHeaders
		}
	}
}

func (n *Network) socketFailed(s *cdp.Session, e *network.EventWebSocketFrameError) {
	if r := n.log.open[keyOf(s, e.RequestID)]; r != nil {
		r.Failed = e.ErrorMessage
	}
}

func (n *Network) socketClosed(s *cdp.Session, e *network.EventWebSocketClosed) {
	key := keyOf(s, e.RequestID)
	r := n.log.open[key]
	delete(n.log.open, key)
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
