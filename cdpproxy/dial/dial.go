package dial

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/peer"
)

const (
	defaultTimeout         = 5 * time.Second
	defaultResponseTimeout = time.Minute
	// maxHeader bounds those headers, in bytes. Chromium's take a few hundred.
	maxHeader = 64 << 10
)

// Options of a connection; nil and the zero value are good defaults.
type Options struct {
	// Remote permits a browser on another machine, and TLS. It is only for an
	// address that the user names in a flag.
	Remote bool
	// Timeout bounds the connection setup; 0 means 5 s.
	Timeout time.Duration
	// Header is sent with each request of Get.
	Header http.Header
	// ResponseTimeout bounds the wait for the headers of a response; 0 means a minute. The
	// stable endpoint holds a request while its window has no browser.
	ResponseTimeout time.Duration
	// KeepAlive is for long connections.
	KeepAlive net.KeepAliveConfig
}

// RefusedError reports an address that was refused before the dial.
type RefusedError struct {
	Address string // without its path, which may hold a secret
	Reason  string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the browser's address %s is refused: %s", e.Address, e.Reason)
}

// StatusError reports a response with another status than 200.
type StatusError struct {
	Response *http.Response // its body is read
	Text     string         // of the body
}

func (e *StatusError) Error() string { return e.Response.Status + ": " + e.Text }

// Place returns the scheme, host and port of an address. Only these may appear in
// an error or a log, since credentials, path and query may contain secrets.
func Place(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return "that cannot be read"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

// Dial connects to the host of a browser's ws or http URL, and returns the parsed
// URL. It sends no request. On Linux it refuses a process of another user with a
// *peer.ForeignError.
func Dial(ctx context.Context, rawURL string, o *Options) (net.Conn, *url.URL, error) {
	o = orDefault(o)
	u, err := o.check(rawURL)
	if err != nil {
		return nil, nil, err
	}
	conn, err := o.connect(ctx, "tcp", net.JoinHostPort(u.Hostname(), portOf(u)))
	if err != nil {
		return nil, nil, err
	}
	if u.Scheme == "https" || u.Scheme == "wss" {
		secure := tls.Client(conn, &tls.Config{ServerName: u.Hostname()})
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, nil, err
		}
		conn = secure
	}
	return conn, u, nil
}

// Client is an HTTP client for browsers with the rules of Dial. Each of its
// connections is used once: a kept connection could outlive its browser.
func Client(o *Options) *http.Client {
	o = orDefault(o)
	return &http.Client{
		Transport: &transport{o, &http.Transport{
			DialContext:            o.connect,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
			ResponseHeaderTimeout:  o.ResponseTimeout,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Get requests a document from a browser and reads at most limit bytes. Its errors
// omit the address: the path may be a secret.
func Get(ctx context.Context, rawURL string, limit int64, o *Options) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return nil, &RefusedError{Place(rawURL), "it cannot be read"}
	}
	if o != nil && o.Header != nil {
		req.Header = o.Header.Clone()
	}
	res, err := Client(o).Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, limit))
	if err == nil && res.StatusCode != http.StatusOK {
		err = &StatusError{res, strings.TrimSpace(string(body))}
	}
	return body, err
}

// transport checks the address of each request.
type transport struct {
	options *Options
	next    http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := t.options.check(r.URL.String())
	if err != nil {
		return nil, err
	}
	if Loopback(u.Hostname()) {
		r = r.Clone(r.Context())
		r.Header.Set(OwnHeader, "1")
	}
	return t.next.RoundTrip(r)
}

// OwnHeader marks a request of this program, on this machine. Its sender locks a page while it takes a
// picture of it ([browser-coordinator/internal/pagelock]), so the endpoint that it reaches does not.
const OwnHeader = "Browser-Coordinator"

// IsOwn reports whether a request is one of this program.
func IsOwn(h http.Header) bool { return h.Get(OwnHeader) != "" }

// check refuses an address that must not be dialed.
func (o *Options) check(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Hostname() == "" {
		return nil, &RefusedError{Place(rawURL), "it is not of the form ws://127.0.0.1:PORT/devtools/browser/GUID"}
	}
	refuse := func(reason string) (*url.URL, error) { return nil, &RefusedError{Place(rawURL), reason} }
	switch {
	case u.User != nil:
		return refuse("it contains a user name or a password, which would not be sent")
	case u.Scheme == "ws" || u.Scheme == "http":
	case u.Scheme != "wss" && u.Scheme != "https":
		return refuse("it does not begin with ws://, wss://, http:// or https://")
	case !o.Remote:
		return refuse("a browser on this machine speaks ws or http")
	}
	if !o.Remote && !Loopback(u.Hostname()) {
		return refuse("it is not on this machine. Only an address that you name yourself, as with --attach, may be " +
			"elsewhere")
	}
	return u, nil
}

// connect opens every connection to a browser.
func (o *Options) connect(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	hosts := []string{host}
	if localhost(host) { // without a resolver, which could return any address
		hosts = []string{"127.0.0.1", "::1"}
	}
	if !o.Remote && !Loopback(hosts[0]) {
		return nil, &RefusedError{address, "it is not on this machine"}
	}
	d := net.Dialer{Timeout: o.Timeout, KeepAliveConfig: o.KeepAlive}
	var errs []error
	for _, host := range hosts {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(host, port))
		if err == nil {
			if err = peer.CheckServer(conn); err == nil {
				return conn, nil
			}
			conn.Close()
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func orDefault(o *Options) *Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.ResponseTimeout == 0 {
		c.ResponseTimeout = defaultResponseTimeout
	}
	return &c
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https" || u.Scheme == "wss":
		return "443"
	}
	return "80"
}

func localhost(host string) bool {
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Loopback reports whether a host is this machine by its spelling alone.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return localhost(host) || ip != nil && ip.IsLoopback()
}
