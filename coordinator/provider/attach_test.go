package provider_test

import (
	"encoding/pem"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/provider"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// hosted stands for a provider on the internet, which no test may reach: a real browser
// behind a TLS server with a token and a limit of sessions.
type hosted struct {
	*httptest.Server
	path  string       // of the browser's WebSocket
	full  atomic.Bool  // no more sessions
	down  atomic.Bool  // the server is being restarted
	dials atomic.Int32 // WebSockets that were opened

	mu    sync.Mutex // guards conns
	conns []net.Conn
}

const token = "a-long-token"

// trusted has the certificates that this process trusts, as for a private authority.
var trusted string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "provider-test-")
	if err != nil {
		panic(err)
	}
	trusted = filepath.Join(dir, "authorities.pem")
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS() // all its kind have one certificate
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	server.Close()
	if err := os.WriteFile(trusted, text, 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", trusted)
	code := toolstest.Main(withBrowsers{m})
	os.RemoveAll(dir)
	os.Exit(code)
}

// withBrowsers ends the browsers of the tests. toolstest.Main gives them folders of their
// own for their files.
type withBrowsers struct{ *testing.M }

func (m withBrowsers) Run() int { return cdptest.Main(m.M) }

func host(t *testing.T) *hosted {
	t.Helper()
	browser := must.Get(url.Parse(cdptest.Launch(t, "--remote-debugging-port=0").URL()))(t)
	h := &hosted{path: browser.Path}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: browser.Host})
		r.Out.Host = browser.Host
	}}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case h.down.Load():
			http.Error(w, "restarting", http.StatusBadGateway)
		case r.URL.Query().Get("token") != token && r.Header.Get("Authorization") != "Bearer "+token:
			http.Error(w, "no such token: "+r.Header.Get("Authorization")+r.URL.RawQuery, http.StatusUnauthorized)
		case h.full.Load():
			http.Error(w, "your plan has 1 concurrent session", http.StatusTooManyRequests)
		default:
			if r.Header.Get("Upgrade") != "" {
				h.dials.Add(1)
			}
			proxy.ServeHTTP(w, r)
		}
	}))
	h.Listener = &recorded{Listener: h.Listener, h: h}
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// recorded keeps the connections of a server, also those that became WebSockets.
type recorded struct {
	net.Listener
	h *hosted
}

func (r *recorded) Accept() (net.Conn, error) {
	c, err := r.Listener.Accept()
	if err == nil {
		r.h.mu.Lock()
		r.h.conns = append(r.h.conns, c)
		r.h.mu.Unlock()
	}
	return c, err
}

// drop breaks all connections.
func (h *hosted) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		c.Close()
	}
}

func attach(t *testing.T, c provider.Choice) (*launch.OnDemand, *logged) {
	t.Helper()
	log := &logged{}
	source := must.Get(c.Source(slog.New(slog.NewTextHandler(log, nil))))(t)
	b := launch.New(source)
	t.Cleanup(func() {
		if err := b.End(); err != nil {
			t.Error(err)
		}
	})
	return b, log
}

func (h *hosted) headers(t *testing.T, authorization string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "headers")
	must.Do(t, os.WriteFile(file, []byte("# for the tests\nAuthorization: "+authorization+"\n"), 0o600))
	return file
}

// A remote browser needs TLS and a token. All its clients share one connection. When it
// breaks, the browser is there again at the next use.
func TestAttach(t *testing.T) {
	h := host(t)
	wss := "wss" + strings.TrimPrefix(h.URL, "https")
	t.Setenv(provider.EnvAttach, wss+h.path+"?token="+token)
	for name, c := range map[string]provider.Choice{
		"a header and wss":        {Attach: wss + h.path, Headers: h.headers(t, "Bearer "+token)},
		"a header and https":      {Attach: h.URL, Headers: h.headers(t, "Bearer "+token)},
		"an address with a query": {},
	} {
		t.Run(name, func(t *testing.T) {
			before := h.dials.Load()
			b, log := attach(t, c)
			first := open(t, b)
			one, two := cdptest.Dial(t, first), cdptest.Dial(t, first)
			one.Call("", "Browser.getVersion", "", nil)
			two.Call("", "Browser.getVersion", "", nil)
			if n := h.dials.Load() - before; n != 1 {
				t.Errorf("%d connections", n)
			}
			h.down.Store(true)
			h.drop()
			awaitEnd(t, b)
			one.Ended()
			back := time.AfterFunc(time.Second, func() { h.down.Store(false) })
			defer back.Stop()
			cdptest.Dial(t, open(t, b)).Call("", "Browser.getVersion", "", nil)
			if text := log.String(); strings.Contains(text, token) {
				t.Errorf("logged: %s", text)
			}
		})
	}
}

// A refusal names its cause and what to do, and no secret.
func TestAttachRefused(t *testing.T) {
	h := host(t)
	wrong, _ := attach(t, provider.Choice{Attach: h.URL, Headers: h.headers(t, "Bearer wrong-token")})
	_, err := wrong.Browser(t.Context())
	if refused := new(provider.RefusedError); !errors.As(err, &refused) ||
		refused.Status != http.StatusUnauthorized || strings.Contains(err.Error(), "wrong-token") ||
		!strings.Contains(err.Error(), "--headers") {
		t.Errorf("wrong token: %v", err)
	}
	t.Setenv(provider.EnvAttach, h.URL+"/?token=wrong-token")
	wrong, _ = attach(t, provider.Choice{})
	if _, err := wrong.Browser(t.Context()); err == nil || strings.Contains(err.Error(), "wrong-token") {
		t.Errorf("wrong token in the address: %v", err)
	}
	right := h.headers(t, "Bearer "+token)
	h.full.Store(true)
	for _, address := range []string{h.URL, "wss" + strings.TrimPrefix(h.URL, "https") + "/session"} {
		full, _ := attach(t, provider.Choice{Attach: address, Headers: right})
		if _, err := full.Browser(t.Context()); err == nil || !strings.Contains(err.Error(),
			"gives no more sessions (429 Too Many Requests: your plan has 1 concurrent session)") {
			t.Errorf("%s: %v", address, err)
		}
	}
	named := must.Get(url.Parse(h.URL))(t)
	h.full.Store(false)
	noPath, _ := attach(t, provider.Choice{Attach: "wss://" + named.Host, Headers: right})
	if _, err := noPath.Browser(t.Context()); err == nil || !strings.Contains(err.Error(), "with http, not ws") {
		t.Errorf("no path: %v", err)
	}
	// not a name in the certificate
	other, _ := attach(t, provider.Choice{Attach: "https://localhost:" + named.Port(), Headers: right})
	if _, err := other.Browser(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("certificate: %v", err)
	}
}
