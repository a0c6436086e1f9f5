package cdpproxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	dialTimeout     = 5 * time.Second
	exchangeTimeout = 20 * time.Second // one request and its answer
	maxAnswer       = 64 << 20         // of /json/*; /json/protocol is 1.6 MB
)

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// upstream is one connection to a browser's DevTools server. It is dialed for
// each request: a connection that is kept could outlive its browser, and the
// next one on that port may be another window's.
type upstream struct {
	conn *net.TCPConn
	br   *bufio.Reader
	host string
	path string // of the browser-level WebSocket
	base string // that begins every path; empty for a browser of its own port
	stop func() bool
}

// dialBrowser connects to b. Until release, the end of ctx breaks the
// connection.
func dialBrowser(ctx context.Context, b *Browser) (*upstream, error) {
	host, path, err := b.target()
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialTimeout, KeepAliveConfig: keepAlive}
	c, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.TCPConn)
	conn.SetDeadline(time.Now().Add(exchangeTimeout))
	base, _, ok := strings.Cut(path, "/devtools/")
	if !ok {
		base = ""
	}
	u := &upstream{conn: conn, br: bufio.NewReader(conn), host: host, path: path, base: base}
	u.stop = context.AfterFunc(ctx, u.interrupt)
	return u, nil
}

func (u *upstream) interrupt() { u.conn.SetDeadline(time.Unix(1, 0)) }

// release frees the connection from its context and deadline. It reports false
// if the context has ended meanwhile.
func (u *upstream) release() bool {
	if !u.stop() {
		return false
	}
	return u.conn.SetDeadline(time.Time{}) == nil
}

func (u *upstream) close() {
	u.stop()
	u.conn.Close()
}

// do sends one request and reads the answer, whole.
func (u *upstream) do(method, uri string) (*http.Response, []byte, error) {
	if _, err := fmt.Fprintf(u.conn, "%s %s%s HTTP/1.1\r\nHost: %s\r\n\r\n", method, u.base, uri, u.host); err != nil {
		return nil, nil, err
	}
	res, err := http.ReadResponse(u.br, &http.Request{Method: method})
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, nil, err
	}
	if len(body) > maxAnswer {
		return nil, nil, fmt.Errorf("answer to %s exceeds %d bytes", uri, maxAnswer)
	}
	return res, body, nil
}

// verify makes sure that the process at the other end is the browser that the
// source named, and not another one that has taken its port since: the GUID is
// new at every launch (facts 1). What is sent on this connection afterwards
// reaches the same process.
func (u *upstream) verify() error {
	res, body, err := u.do(http.MethodGet, "/json/version")
	if err != nil {
		return err
	}
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if res.StatusCode != http.StatusOK || json.Unmarshal(body, &version) != nil {
		return fmt.Errorf("what listens on %s is not a CDP browser (HTTP %d)", u.host, res.StatusCode)
	}
	if ws, err := url.Parse(version.URL); err != nil || ws.EscapedPath() != u.path {
		return fmt.Errorf("another browser listens on %s now", u.host)
	}
	return nil
}

// answered is an HTTP answer where a WebSocket was asked for.
type answered struct {
	res  *http.Response
	body []byte
}

func (a *answered) Error() string { return "browser answered HTTP " + a.res.Status }

// upgrade asks for the WebSocket at path. The client's own key is used, so its
// check of the accept value reaches to the browser. Neither Origin nor
// extensions are passed on: the first is for checkPage to judge, and
// permessage-deflate only costs on loopback and would hide messages from rules
// (facts 8).
func (u *upstream) upgrade(path, key, protocols string) (*http.Response, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n", path, u.host, key)
	if protocols != "" {
		fmt.Fprintf(&b, "Sec-WebSocket-Protocol: %s\r\n", protocols)
	}
	b.WriteString("\r\n")
	if _, err := u.conn.Write(b.Bytes()); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(u.br, &http.Request{Method: http.MethodGet})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
		res.Body.Close()
		return nil, errors.Join(&answered{res, body}, err)
	}
	if res.Header.Get("Sec-WebSocket-Accept") != acceptKey(key) || !strings.EqualFold(res.Header.Get("Upgrade"), "websocket") {
		return nil, errors.New("the browser's WebSocket handshake is wrong")
	}
	if res.Header.Get("Sec-WebSocket-Extensions") != "" {
		return nil, errors.New("the browser chose a WebSocket extension that was not offered")
	}
	return res, nil
}

// leftover is what came together with the last answer.
func (u *upstream) leftover() []byte {
	b, _ := u.br.Peek(u.br.Buffered())
	return bytes.Clone(b)
}

// acceptKey is Sec-WebSocket-Accept, RFC 6455 section 4.2.2.
func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}
