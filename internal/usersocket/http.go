package usersocket

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// maxAnswer bounds the answer to Ask, in bytes.
const maxAnswer = 4 << 20

// Ask is Get for a response that begins with a JSON value, which it decodes. The caller
// closes the rest of the response.
func Ask(ctx context.Context, socket, path string, answer any) (rest io.ReadCloser, err error) {
	res, _, err := Get(ctx, socket, path)
	if err != nil {
		return nil, err
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(answer); err != nil {
		res.Body.Close()
		return nil, err
	}
	return res.Body, nil
}

// responseTimeout bounds how long a process takes to begin a response.
const responseTimeout = 5 * time.Second

// Get requests an HTTP path of the process that listens at a socket. The connection is for
// this response only.
func Get(ctx context.Context, socket, path string) (*http.Response, net.Conn, error) {
	var conn net.Conn
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (_ net.Conn, err error) {
			conn, err = Dial(ctx, socket)
			return conn, err
		},
		ResponseHeaderTimeout: responseTimeout,
		DisableKeepAlives:     true,
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://coordinator"+path, nil)
	if err != nil {
		return nil, nil, err
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, nil, fmt.Errorf("HTTP %s", res.Status)
	}
	return res, conn, nil
}
