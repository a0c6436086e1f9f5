package cdpproxy

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// isUpgrade reports whether r requests a WebSocket, RFC 6455 section 4.2.1.
func isUpgrade(r *http.Request) bool {
	return headerHas(r.Header, "Upgrade", "websocket") && headerHas(r.Header, "Connection", "upgrade")
}

func headerHas(h http.Header, name, token string) bool {
	for _, v := range h.Values(name) {
		for item := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(item), token) {
				return true
			}
		}
	}
	return false
}

func checkUpgrade(r *http.Request) *refusal {
	if r.Method != http.MethodGet || !r.ProtoAtLeast(1, 1) {
		return &refusal{http.StatusMethodNotAllowed, "a WebSocket is opened with GET and HTTP/1.1"}
	}
	if v := r.Header.Get("Sec-WebSocket-Version"); v != "13" {
		return &refusal{http.StatusUpgradeRequired, fmt.Sprintf("Sec-WebSocket-Version %q refused: this endpoint speaks version 13", v)}
	}
	// Like Chromium, take any: rod's is "nil", not 16 bytes in base64.
	if r.Header.Get("Sec-WebSocket-Key") == "" {
		return &refusal{http.StatusBadRequest, "Sec-WebSocket-Key is missing"}
	}
	return nil
}

// readsCloseFrames reports whether a client with this key can read a close frame.
// rod parses each frame as JSON and panics: Chromium itself ends the stream without
// a close frame. rod's key is "nil", which is not 16 bytes in base64 as RFC 6455
// requires. A client with such a key gets no close frame.
func readsCloseFrames(key string) bool {
	b, err := base64.StdEncoding.DecodeString(key)
	return err == nil && len(b) == 16
}

// forBrowser reports whether path is browser-level. Any such path names the current
// browser, so that a client with an old GUID still connects. A page is named by its
// id.
func forBrowser(path string) bool {
	return path == "/devtools/browser" || strings.HasPrefix(path, "/devtools/browser/")
}

// serveWebSocket connects the client with the current browser and hands both to a
// relay. It calls served when the relay counts as a client.
func (p *Proxy) serveWebSocket(w http.ResponseWriter, r *http.Request, path string, served func()) {
	if no := checkUpgrade(r); no != nil {
		if no.status == http.StatusUpgradeRequired {
			w.Header().Set("Sec-WebSocket-Version", "13")
		}
		p.refuse(w, r, no)
		return
	}
	path = strings.TrimSuffix(path, "/")
	if !strings.HasPrefix(path, "/devtools/") {
		p.refuse(w, r, &refusal{http.StatusNotFound, "no such WebSocket. Connect to the webSocketDebuggerUrl that http://" + ownHost(r) + "/json/version names."})
		return
	}
	var (
		up      *joined
		other   *answered
		refused *refusal // by the rule
	)
	no := p.withBrowser(r, false, func(ctx context.Context, b *Browser) error {
		rel := newRelay(p, b, p.client(r, b, path, nil))
		rel.noClose = !readsCloseFrames(r.Header.Get("Sec-WebSocket-Key"))
		var err error
		other = nil
		// Before the dial: a user who is asked may take longer than the timeout of an
		// exchange.
		if refused, err = p.join(ctx, rel.who); refused != nil || err != nil {
			return err
		}
		up, err = p.connect(ctx, rel, r)
		// "No such page" is a valid response; "no such browser" means another
		// browser on this one's old port.
		if errors.As(err, &other) && !forBrowser(path) {
			return nil
		}
		return err
	})
	if no == nil {
		no = refused
	}
	switch {
	case no != nil:
		p.refuse(w, r, no)
	case up == nil:
		p.refuse(w, r, &refusal{other.status, fmt.Sprintf("the browser refuses %s: %s. `/json/list` names the pages that it has now.", path, other.text)})
	default:
		p.hijack(w, r, up, served)
	}
}

// joined is a registered relay that is connected to its browser.
type joined struct {
	*relay
	greeting []byte // that came with the browser's 101
}

// connect connects the relay to its browser and registers it. Nothing has been written to
// the client yet.
func (p *Proxy) connect(ctx context.Context, rel *relay, r *http.Request) (up *joined, err error) {
	up = &joined{relay: rel}
	if rel.browser.Value == nil {
		rel.down.direct = canEndWrites
		rel.dialed, up.greeting, err = p.dial(ctx, rel.who, rel.browser, r)
		rel.conn = rel.dialed
	} else {
		rel.conn, err = openValue(ctx, rel)
	}
	if err != nil {
		return nil, err
	}
	if !p.add(rel) {
		rel.abandon()
		return nil, errChanged
	}
	return up, nil
}

// dial opens a client's WebSocket to a browser that listens.
func (p *Proxy) dial(ctx context.Context, who *Client, b *Browser, r *http.Request) (conn *dialed, greeting []byte, err error) {
	if err := p.acquire(ctx); err != nil {
		return nil, nil, err
	}
	defer p.release()
	u, err := dialBrowser(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	path := u.path // which has the GUID
	if !forBrowser(who.Path) {
		path = u.base + who.Path
	}
	agent := r.UserAgent()
	if r.Header.Get("Origin") == DevToolsOrigin {
		agent = "DevTools" // its own is the browser's
	}
	if err := u.upgrade(path, agent); err != nil {
		u.close()
		return nil, nil, err
	}
	if !u.release() {
		u.close()
		return nil, nil, errChanged
	}
	return &dialed{u.conn}, u.leftover(), nil
}

// hijack takes the client's connection from the HTTP server and starts the relay.
// The relay outlives this handler, whose goroutine and request would otherwise stay
// in memory as long.
func (p *Proxy) hijack(w http.ResponseWriter, r *http.Request, up *joined, served func()) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		up.abandon()
		p.remove(up.relay)
		p.refuse(w, r, &refusal{http.StatusInternalServerError, "this connection cannot become a WebSocket"})
		return
	}
	served()
	client := conn.(*net.TCPConn)
	client.SetKeepAliveConfig(keepAlive)
	// Bytes that the client sent early are forwarded after the browser's 101:
	// Chromium closes the connection when a frame comes with the Upgrade.
	early := make([]byte, rw.Reader.Buffered())
	if _, err = io.ReadFull(rw.Reader, early); err == nil {
		// The response is sent alone: chromedp panics when data comes with it.
		client.SetWriteDeadline(time.Now().Add(dialTimeout))
		_, err = client.Write(switching(r.Header.Get("Sec-WebSocket-Key")))
		client.SetWriteDeadline(time.Time{})
	}
	if err != nil {
		client.Close()
		up.abandon()
		p.remove(up.relay)
		return
	}
	who := up.who
	p.opts.Logger.Debug("cdp client joined", "client", who.Number, "agent", who.UserAgent, "browser", who.Browser, "path", who.Path)
	up.start(client, early, up.greeting)
}

func switching(key string) []byte {
	return []byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + acceptKey(key) + "\r\n\r\n")
}
