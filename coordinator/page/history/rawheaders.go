package history

import (
	"maps"

	"github.com/chromedp/cdproto/network"

	"browser-coordinator/coordinator/cdp"
)

// The browser reports the headers that were really sent and received, with cookies, in
// events of their own, before or after the event of the request or the response
// (Network.requestWillBeSentExtraInfo, Network.responseReceivedExtraInfo). All requests of
// a redirect share an id, so their order decides which is whose.

// rawHeaders are the headers of all requests with one id.
type rawHeaders struct{ requests, responses []network.Headers }

// maxRaw bounds how many ids are remembered. An event without a request is possible.
const maxRaw = 1000

// rawLog are the raw headers by id, the oldest first.
type rawLog struct {
	byRequest map[requestKey]*rawHeaders
	order     []requestKey
}

func (l *rawLog) get(key requestKey) *rawHeaders {
	if raw := l.byRequest[key]; raw != nil {
		return raw
	}
	if len(l.order) == maxRaw {
		delete(l.byRequest, l.order[0]) // its requests keep their own
		l.order = l.order[1:]
	}
	raw := new(rawHeaders)
	l.byRequest[key] = raw
	l.order = append(l.order, key)
	return raw
}

func (n *Network) headersSent(s *cdp.Session, e *network.EventRequestWillBeSentExtraInfo) {
	raw := n.raw.get(keyOf(s, e.RequestID))
	raw.requests = append(raw.requests, e.Headers)
}

func (n *Network) headersReceived(s *cdp.Session, e *network.EventResponseReceivedExtraInfo) {
	raw := n.raw.get(keyOf(s, e.RequestID))
	headers := maps.Clone(e.Headers)
	for _, blocked := range e.BlockedCookies {
		name, line := "blocked set-cookie", blocked.CookieLine
		if len(blocked.BlockedReasons) > 0 {
			name += " (" + string(blocked.BlockedReasons[0]) + ")"
		}
		if headers == nil {
			headers = network.Headers{}
		}
		if before, ok := headers[name].(string); ok {
			line = before + "\n" + line
		}
		headers[name] = line
	}
	raw.responses = append(raw.responses, headers)
}

// headers are the raw headers of a request, where the browser has reported them.
func (e *entry) headers() (sent, received network.Headers) {
	sent, received = e.requestHeaders, e.responseHeaders
	if e.raw != nil && e.hop < len(e.raw.requests) {
		sent = e.raw.requests[e.hop]
	}
	if e.raw != nil && e.hop < len(e.raw.responses) {
		received = e.raw.responses[e.hop]
	}
	return sent, received
}
