package endpoint

import (
	"context"
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
	// tokenHeader tells that it lets nobody in without the token, by tokenRequired.
	// In a request it has it be so for as long as the answer lasts.
	tokenHeader   = "Browser-Coordinator-Token"
	tokenRequired = "required"
)

// standbyHandler answers at once and ends its answer when the owner has let go
// of the lock.
type standbyHandler struct {
	prover   *prover
	proxy    *cdpproxy.Proxy
	released <-chan struct{}
}

func (h *standbyHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce, ok := h.prover.asks(w, r, standbyPath)
	if !ok {
		return
	}
	if r.Header.Get(tokenHeader) == tokenRequired {
		defer h.proxy.Stricten()()
	}
	var required string
	if h.proxy.RequiresToken() {
		required = tokenRequired
		w.Header().Set(tokenHeader, required)
	}
	w.Header().Set(proofHeader, proof(h.prover.token, "standby", nonce, required))
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

// get asks who listens on a port.
func get(ctx context.Context, port int, path string, header http.Header) (*http.Response, error) {
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		ResponseHeaderTimeout:  5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true,
		DisableCompression:     true,
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("127.0.0.1", strconv.Itoa(port))+path, nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	return transport.RoundTrip(req)
}

// find asks who listens on a port to prove that it serves this window's endpoint, and
// returns the owner's nonce.
func (f *files) find(ctx context.Context, port int, token string) (nonce string, err error) {
	ours := newNonce()
	res, err := get(ctx, port, provePath+ours, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	return f.checkOwner(res, port, token, ours)
}

// ask asks the owner, when it has proved to be that, for what is at path, and returns
// the nonce that the answer may be proved with. The header is for that request.
func (f *files) ask(ctx context.Context, port int, token, path string, header http.Header) (res *http.Response, nonce string, err error) {
	owners, err := f.find(ctx, port, token)
	if err != nil {
		return nil, "", err
	}
	nonce = newNonce()
	res, err = get(ctx, port, path+nonce+"/"+proof(token, path, f.hash, strconv.Itoa(port), owners, nonce), header)
	if err != nil {
		return nil, "", err
	}
	if res.StatusCode != http.StatusOK || res.Header.Get(hashHeader) != f.hash {
		res.Body.Close()
		return nil, "", fmt.Errorf("port %d is served by this window's coordinator no more (HTTP %d)", port, res.StatusCode)
	}
	return res, nonce, nil
}

// owner asks whether this window's owner listens on a port; with strict it has it
// require the token until the caller closes what owner returns.
func (f *files) owner(ctx context.Context, port int, token string, strict bool) (*owner, error) {
	header := http.Header{}
	if strict {
		header.Set(tokenHeader, tokenRequired)
	}
	res, nonce, err := f.ask(ctx, port, token, standbyPath, header)
	if err != nil {
		return nil, err
	}
	required := res.Header.Get(tokenHeader)
	if !proven(res.Header.Get(proofHeader), token, "standby", nonce, required) {
		res.Body.Close()
		return nil, fmt.Errorf("port %d is a stranger's", port)
	}
	return &owner{required == tokenRequired, res.Body}, nil
}

// serves is owner for who only wants to know that it is there.
func (f *files) serves(ctx context.Context, port int, token string) bool {
	_, err := f.find(ctx, port, token)
	return err == nil
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
