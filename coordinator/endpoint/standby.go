package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"browser-coordinator/cdpproxy"
)

// A coordinator that stands by keeps one request open at the owner. Its end is
// the event that the owner has gone, however it went: the kernel closes a dead
// process's connections.

const (
	// hashHeader tells that the one who answers serves this window's endpoint.
	hashHeader = "Browser-Coordinator-Window"
	// tokenHeader tells that it lets nobody in without the token, by tokenRequired.
	// In a request it has it be so for as long as the answer lasts.
	tokenHeader   = "Browser-Coordinator-Token"
	tokenRequired = "required"
)

// standbyPath is known to whoever knows the token, but does not give the token
// away: the port may be a stranger's at the moment when it is asked.
func standbyPath(token string) string {
	sum := sha256.Sum256([]byte("standby " + token))
	return "/standby/" + hex.EncodeToString(sum[:])
}

// standbyHandler answers at once and ends its answer when the owner has let go
// of the lock.
type standbyHandler struct {
	hash     string
	proxy    *cdpproxy.Proxy
	released <-chan struct{}
}

func (h *standbyHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(hashHeader, h.hash)
	if r.Header.Get(tokenHeader) == tokenRequired {
		defer h.proxy.Stricten()()
	}
	if h.proxy.RequiresToken() {
		w.Header().Set(tokenHeader, tokenRequired)
	}
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-h.released:
	case <-r.Context().Done():
	}
}

// patience is how long somebody who listens on a port may take to say that it
// serves a window.
const patience = time.Second

// owner is the coordinator that serves a window's endpoint, as it answers.
type owner struct {
	requiresToken bool
	gone          io.ReadCloser // ends when it has gone
}

// ask asks who listens on a port whether it serves this window's endpoint, under
// a path that follows from the token.
func (f *files) ask(ctx context.Context, port int, path string, header http.Header) (*http.Response, error) {
	transport := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		ResponseHeaderTimeout: 5 * time.Second,
		DisableKeepAlives:     true,
		DisableCompression:    true,
	}
	address := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if got := res.Header.Get(hashHeader); res.StatusCode != http.StatusOK || got != f.hash {
		res.Body.Close()
		return nil, fmt.Errorf("%s is not served by this window's coordinator (HTTP %d)", address, res.StatusCode)
	}
	return res, nil
}

// owner asks whether this window's owner listens on a port; with strict it has it
// require the token until the caller closes what owner returns.
func (f *files) owner(ctx context.Context, port int, token string, strict bool) (*owner, error) {
	header := http.Header{}
	if strict {
		header.Set(tokenHeader, tokenRequired)
	}
	res, err := f.ask(ctx, port, standbyPath(token), header)
	if err != nil {
		return nil, err
	}
	return &owner{res.Header.Get(tokenHeader) == tokenRequired, res.Body}, nil
}

// serves is owner for who only wants to know.
func (f *files) serves(ctx context.Context, port int, token string) bool {
	o, err := f.owner(ctx, port, token, false)
	if err != nil {
		return false
	}
	o.gone.Close()
	return true
}

// standBy returns nil when the owner has gone or ctx has ended; an error when
// there was no owner to wait for.
func (e *Endpoint) standBy(ctx context.Context, ready chan error) error {
	addr, err := e.files.address()
	if err != nil {
		return err
	}
	o, err := e.files.owner(ctx, addr.Port, e.token, e.opts.Proxy.RequireToken)
	if err == nil {
		addr.RequiresToken = addr.RequiresToken || o.requiresToken
	}
	e.mu.Lock()
	e.addr = addr
	e.mu.Unlock()
	if err != nil {
		return err
	}
	defer o.gone.Close()
	tell(ready, nil)
	io.Copy(io.Discard, o.gone)
	return nil
}
