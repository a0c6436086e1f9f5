package cdpproxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
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
		return &refusal{http.StatusUpgradeRequired, fmt.Sprintf("Sec-WebSocket-Version %q refused: this endpoint "+
			"speaks version 13", v)}
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
// relay, which then counts as the client until it ends. It reports whether that began.
func (p *Proxy) serveWebSocket(w http.ResponseWriter, r *http.Request, path string) bool {
	path = strings.TrimSuffix(path, "/")
	no := checkUpgrade(r)
	if no == nil && !strings.HasPrefix(path, "/devtools/") {
		no = &refusal{http.StatusNotFound, "no such WebSocket. Connect to the webSocketDebuggerUrl that http://" +
			ownHost(r) + "/json/version names."}
	}
	if no == nil && !p.enter() {
		no = shuttingDown
	}
	if no != nil {
		p.refuse(w, r, no)
		return false
	}
	defer p.running.Done()
	hijacked, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.refuse(w, r, &refusal{http.StatusInternalServerError, "this connection cannot become a WebSocket"})
		return false
	}
	conn := hijacked.(*net.TCPConn)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	watched := make(chan *refusal, 1)
	go watchSilent(buffered.Reader, cancel, watched)
	var rel *relay
	no = p.withBrowser(r.WithContext(ctx), false, func(ctx context.Context, b *Browser) error {
		client := p.client(r, b, path)
		// Before the dial: a user who is asked may take longer than the timeout of an
		// exchange.
		err := p.join(ctx, client)
		if err != nil {
			return err
		}
		rel, err = newRelay(ctx, p, conn, client, r)
		// "No such page" is a valid response; "no such browser" means another
		// browser on this one's old port.
		if other, ok := errors.AsType[*answered](err); ok && !forBrowser(path) {
			err = &refusal{other.status, fmt.Sprintf("the browser refuses %s: %s. `/json/list` names the pages that "+
				"it has now.", path, other.text)}
		}
		return err
	})
	connected := no == nil
	conn.SetReadDeadline(time.Unix(1, 0)) // wakes watchSilent
	if early := <-watched; early != nil {
		no = early
	}
	if no != nil {
		if connected {
			rel.abandon()
		}
		p.turnAway(conn, r, no)
		return false
	}
	// The response is sent alone: chromedp panics when data comes with it.
	conn.SetDeadline(time.Now().Add(dialTimeout))
	if _, err := conn.Write(switching(r.Header.Get("Sec-WebSocket-Key"))); err != nil {
		conn.Close()
		rel.abandon()
		return false
	}
	conn.SetDeadline(time.Time{})
	conn.SetKeepAliveConfig(keepAlive)
	client := rel.client
	p.opts.Logger.Debug("cdp client joined", "client", client.Number, "agent", client.UserAgent, "browser",
		client.Browser, "path", client.Path)
	rel.start()
	return true
}

// watchSilent cancels if the client leaves, or sends anything before its response, as
// Chromium does, and reports that. It ends with a read deadline.
func watchSilent(client *bufio.Reader, cancel context.CancelFunc, watched chan<- *refusal) {
	var no *refusal
	switch _, err := client.ReadByte(); {
	case err == nil:
		no = &refusal{http.StatusBadRequest, "a client may send frames once it has the response to its upgrade " +
			"(RFC 6455 section 4.1)"}
	case !errors.Is(err, os.ErrDeadlineExceeded):
		no = &refusal{http.StatusBadRequest, "the client left before it had a response"}
	}
	if no != nil {
		cancel()
	}
	watched <- no
}

// dial opens a client's WebSocket to a browser that listens.
func (p *Proxy) dial(ctx context.Context, client *Client, request *http.Request) (*dialed, error) {
	if err := p.acquire(ctx); err != nil {
		return nil, err
	}
	defer p.release()
	u, err := dialBrowser(ctx, client.browser)
	if err != nil {
		return nil, err
	}
	path := u.path // which has the GUID
	if !forBrowser(client.Path) {
		path = u.base + client.Path
	}
	agent := request.UserAgent()
	if request.Header.Get("Origin") == DevToolsOrigin {
		agent = "DevTools" // its own is the browser's
	}
	err = u.upgrade(path, agent)
	if err == nil && !u.release() {
		err = errChanged
	}
	if err != nil {
		u.close()
		return nil, err
	}
	return &dialed{u.conn, u.leftover()}, nil
}

func switching(key string) []byte {
	return []byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: " +
		"Upgrade\r\nSec-WebSocket-Accept: " + acceptKey(key) + "\r\n\r\n")
}
