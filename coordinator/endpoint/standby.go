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
)

// proveTimeout bounds how long the program on a port may take to prove that it serves a
// window.
const proveTimeout = time.Second

// owner is the coordinator that serves a window's endpoint.
type owner struct {
	requiresToken bool
	gone          io.ReadCloser // ends with the owner
}

// get requests a path of the program that listens on a port.
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

// find requests from the program on a port the proof that it serves this window's
// endpoint, and returns the owner's nonce.
func (f *files) find(ctx context.Context, port int) (nonce string, err error) {
	ours := newNonce()
	res, err := get(ctx, port, provePath+ours, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	nonce = res.Header.Get(nonceHeader)
	if !f.responded(res) || !f.proven(res.Header.Get(proofHeader), "owner", f.hash, strconv.Itoa(port), ours, nonce) {
		return "", fmt.Errorf("port %d is not served by this window's coordinator (HTTP %d)", port, res.StatusCode)
	}
	return nonce, nil
}

// responded reports whether a response is that of a coordinator of this window.
func (f *files) responded(res *http.Response) bool {
	return res.StatusCode == http.StatusOK && res.Header.Get(hashHeader) == f.hash
}

// ask requests a path of the owner after the owner's proof. It returns the nonce for the
// proof of the response. The header is for that request.
func (f *files) ask(ctx context.Context, port int, path string, header http.Header) (res *http.Response, nonce string, err error) {
	owners, err := f.find(ctx, port)
	if err != nil {
		return nil, "", err
	}
	nonce = newNonce()
	res, err = get(ctx, port, path+nonce+"/"+f.proof(path, f.hash, strconv.Itoa(port), owners, nonce), header)
	if err != nil {
		return nil, "", err
	}
	if !f.responded(res) {
		res.Body.Close()
		return nil, "", fmt.Errorf("port %d is no longer served by this window's coordinator (HTTP %d)", port, res.StatusCode)
	}
	return res, nonce, nil
}

// owner checks whether this window's owner listens on a port. With strict the owner
// requires the token until the caller closes the result.
func (f *files) owner(ctx context.Context, port int, strict bool) (*owner, error) {
	header := http.Header{}
	if strict {
		header.Set(tokenHeader, tokenRequired)
	}
	res, nonce, err := f.ask(ctx, port, standbyPath, header)
	if err != nil {
		return nil, err
	}
	required := res.Header.Get(tokenHeader)
	if !f.proven(res.Header.Get(proofHeader), "standby", nonce, required) {
		res.Body.Close()
		return nil, fmt.Errorf("port %d belongs to another program", port)
	}
	return &owner{required == tokenRequired, res.Body}, nil
}

// serves reports whether this window's owner listens on a port.
func (f *files) serves(ctx context.Context, port int) bool {
	_, err := f.find(ctx, port)
	return err == nil
}

// A coordinator that stands by keeps one request to the owner open. Its end is the event
// that the owner has ended, for any cause: the kernel closes a dead process's
// connections.

// standBy returns nil when the owner has ended or ctx has; an error when there was no
// owner to wait for.
func (e *Endpoint) standBy(ctx context.Context, ready chan error) error {
	addr, err := e.files.address()
	if err != nil {
		return err
	}
	o, err := e.files.owner(ctx, addr.Port, e.opts.RequireToken)
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
	report(ready, nil)
	io.Copy(io.Discard, o.gone)
	return nil
}
