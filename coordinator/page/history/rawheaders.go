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
type rawHeaders struct{ sent, received []network.Headers }

// maxRaw bounds how many ids are remembered. An event without a request is possible.
const maxRaw = 1000

// rawLog are the raw headers by id, the oldest first.
type rawLog struct {
	of    map[requestKey]*rawHeaders
	order []requestKey
}

func (l *rawLog) get(key requestKey) *rawHeaders {
	if raw := l.of[key]; raw != nil {
		return raw
	}
	if len(l.order) == maxRaw {
		delete(l.of, l.order[0]) // its requests keep their own
		l.order = l.order[1:]
	}
	raw := new(rawHeaders)
	l.of[key] = raw
	l.order = append(l.order, key)
	return raw
}

func (n *Network) headersSent(s *cdp.Session, e *network.EventRequestWillBeSentExtraInfo) {
	raw := n.raw.get(keyOf(s, e.RequestID))
	raw.sent = append(raw.sent, e.Headers)
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
	raw.received = append(raw.received, headers)
}

// headers are the raw headers of a request, where the browser has reported them.
func (e *entry) headers() (sent, received network.Headers) {
	sent, received = e.requestHeaders, e.responseHeaders
	if e.raw != nil && e.hop < len(e.raw.sent) {
		sent = e.raw.sent[e.hop]
	}
	if e.raw != nil && e.hop < len(e.raw.received) {
		received = e.raw.received[e.hop]
	}
	return sent, received
}
