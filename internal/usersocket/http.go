package usersocket

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

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
