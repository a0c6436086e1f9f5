package cdpproxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/cdpproxy/guard"
)

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// upstream is one connection to a browser's DevTools server. It is dialed for each
// request: a kept connection could outlive its browser, and the next browser on
// that port may be another window's.
type upstream struct {
	conn *net.TCPConn
	in   *io.LimitedReader // bounds what br takes from conn
	br   *bufio.Reader
	host string
	path string // of the browser-level WebSocket
	base string // that begins every path; empty for a browser with its own port
	stop func() bool
}

// dialBrowser connects to b, and verifies before it sends anything that b itself
// has accepted. Until release, the end of ctx breaks the connection.
func dialBrowser(ctx context.Context, b *Browser) (*upstream, error) {
	c, address, err := dial.Dial(ctx, b.URL, &dial.Options{Timeout: dialTimeout, KeepAlive: keepAlive})
	if err != nil {
		return nil, err
	}
	conn, path := c.(*net.TCPConn), address.EscapedPath() // without TLS, which is for remote browsers
	if path == "" {
		conn.Close()
		return nil, fmt.Errorf("the browser's address %s has no path", dial.Place(b.URL))
	}
	conn.SetDeadline(time.Now().Add(exchangeTimeout))
	base, _, ok := strings.Cut(path, "/devtools/")
	if !ok {
		base = ""
	}
	bounded := &io.LimitedReader{R: conn}
	u := &upstream{conn: conn, in: bounded, br: bufio.NewReader(bounded), host: address.Host, path: path, base: base}
	u.stop = context.AfterFunc(ctx, u.interrupt)
	if err := u.verify(); err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

func (u *upstream) interrupt() { u.conn.Close() }

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

// do sends one request and reads the response, whole, of at most limit bytes.
func (u *upstream) do(method, uri string, limit int64) (*http.Response, []byte, error) {
	if _, err := fmt.Fprintf(u.conn, "%s %s%s HTTP/1.1\r\nHost: %s\r\n\r\n", method, u.base, uri, u.host); err != nil {
		return nil, nil, err
	}
	res, err := u.readResponse(method)
	if err != nil {
		return nil, nil, err
	}
	body, err := u.readBody(res, limit)
	return res, body, err
}

func (u *upstream) readResponse(method string) (*http.Response, error) {
	u.in.N = maxResponseHeader
	res, err := http.ReadResponse(u.br, &http.Request{Method: method})
	if err != nil && u.in.N <= 0 {
		return nil, fmt.Errorf("the program at %s sends HTTP headers of more than %d bytes: it is not a browser",
			u.host, maxResponseHeader)
	}
	return res, err
}

func (u *upstream) readBody(res *http.Response, limit int64) ([]byte, error) {
	u.in.N = math.MaxInt64 // net/http bounds the rest
	// The body is not closed: Close would read all the rest of it.
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("the program at %s sends a response of more than %d bytes", u.host, limit)
	}
	return body, nil
}

// verify makes sure that the process at the other end is the browser that the
// source named, and not another one that has taken its port since: the GUID is new
// at every launch. Later requests on this connection reach the same process.
func (u *upstream) verify() error {
	res, body, err := u.do(http.MethodGet, "/json/version", maxVersion)
	if err != nil {
		return err
	}
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if res.StatusCode != http.StatusOK || json.Unmarshal(body, &version) != nil {
		return fmt.Errorf("the program at %s is not a CDP browser: it answers /json/version with HTTP %d",
			u.host, res.StatusCode)
	}
	if ws, err := url.Parse(version.URL); err != nil || !guard.SameSecret(ws.EscapedPath(), u.path) {
		return fmt.Errorf("another browser listens at %s now", u.host)
	}
	return nil
}

// answered is an HTTP response in place of a WebSocket.
type answered struct {
	status int
	text   string
}

func (a *answered) Error() string { return fmt.Sprintf("browser answered HTTP %d", a.status) }

// upgrade requests the WebSocket at path. The key is our own, since not every
// server accepts the keys that clients send. Neither Origin nor extensions are
// forwarded. Origin is for checkPage to judge; permessage-deflate only costs on
// loopback and would hide messages from rules. No CDP server knows a subprotocol.
// agent is the client's User-Agent: a virtual browser names its clients to each other.
func (u *upstream) upgrade(path, agent string) error {
	var random [16]byte
	rand.Read(random[:]) // never fails
	key := base64.StdEncoding.EncodeToString(random[:])
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "+
		"%s\r\nSec-WebSocket-Version: 13\r\n%s: 1\r\n", path, u.host, key, dial.OwnHeader)
	if agent != "" {
		fmt.Fprintf(&b, "User-Agent: %.200s\r\n", agent)
	}
	b.WriteString("\r\n")
	if _, err := u.conn.Write(b.Bytes()); err != nil {
		return err
	}
	res, err := u.readResponse(http.MethodGet)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		body, err := u.readBody(res, maxVersion)
		return errors.Join(&answered{res.StatusCode, strings.TrimSpace(string(body))}, err)
	}
	if res.Header.Get("Sec-WebSocket-Accept") != acceptKey(key) || !headerHas(res.Header, "Upgrade", "websocket") {
		return errors.New("the browser's WebSocket handshake is wrong")
	}
	if res.Header.Get("Sec-WebSocket-Extensions") != "" {
		return errors.New("the browser chose a WebSocket extension that was not offered")
	}
	return nil
}

// leftover is what came together with the last response.
func (u *upstream) leftover() []byte {
	b, _ := u.br.Peek(u.br.Buffered())
	return bytes.Clone(b)
}

// acceptKey is Sec-WebSocket-Accept, RFC 6455 section 4.2.2.
func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// dialed is a client's WebSocket to a browser that was dialed. It is the
// [browser.Conn] of such a client; what the browser sends is relayed as bytes.
type dialed struct {
	conn     *net.TCPConn
	greeting []byte // that came with its response
}

// Send implements [browser.Conn].
func (d *dialed) Send(m browser.Message) bool { return d.write(opText, m.Text) == nil }

// write sends a frame. Its mask is zero: a mask protects servers of the web from pages,
// and there is none here. An error is that of the connection, whose reader gets it too.
func (d *dialed) write(op byte, payload []byte) (err error) {
	var mask [4]byte
	if len(payload) <= smallMessage {
		frame := append(newFrame(op, 0x80, len(payload), len(payload)), mask[:]...)
		_, err = d.conn.Write(append(frame, payload...))
		return err
	}
	frame := net.Buffers{append(newFrame(op, 0x80, len(payload), 0), mask[:]...), payload}
	_, err = frame.WriteTo(d.conn)
	return err
}

// Close implements [browser.Conn].
func (d *dialed) Close() { d.conn.Close() }
