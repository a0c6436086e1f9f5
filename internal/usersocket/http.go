package usersocket

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// MaxAnswer bounds the answer to Ask and Post, in bytes.
const MaxAnswer = 4 << 20

// responseTimeout bounds how long a process takes to begin a response, and to end that to Ask and Post.
const responseTimeout = 5 * time.Second

// Ask is Get for a response that begins with a JSON value, which it decodes.
func Ask(ctx context.Context, socket, path string, answer any) error {
	return ask(ctx, socket, http.MethodGet, path, nil, answer)
}

// Post sends a form to an HTTP path of the process that listens at a socket, and decodes the JSON
// value of the response.
func Post(ctx context.Context, socket, path string, form url.Values, answer any) error {
	return ask(ctx, socket, http.MethodPost, path, strings.NewReader(form.Encode()), answer)
}

func ask(ctx context.Context, socket, method, path string, form io.Reader, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	res, _, err := request(ctx, socket, method, path, form)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(io.LimitReader(res.Body, MaxAnswer)).Decode(answer)
}

// Get requests an HTTP path of the process that listens at a socket. The connection is for
// this response only.
func Get(ctx context.Context, socket, path string) (*http.Response, net.Conn, error) {
	return request(ctx, socket, http.MethodGet, path, nil)
}

func request(ctx context.Context, socket, method, path string, form io.Reader) (*http.Response, net.Conn, error) {
	var conn net.Conn
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (_ net.Conn, err error) {
			conn, err = Dial(ctx, socket)
			return conn, err
		},
		ResponseHeaderTimeout: responseTimeout,
		DisableKeepAlives:     true,
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://coordinator"+path, form)
	if err != nil {
		return nil, nil, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
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
