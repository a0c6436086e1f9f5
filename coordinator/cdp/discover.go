package cdp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"browser-coordinator/cdpproxy/dial"
)

// maxVersionReply bounds the part of /json/version that is read, in bytes.
const maxVersionReply = 64 << 10

// browserPath begins the path of a browser's WebSocket, before its GUID.
const browserPath = "/devtools/browser/"

// Resolve turns the address from a user or a configuration, http://host:port or a ws URL,
// into the browser's WebSocket address. A ws URL with a GUID names one browser. Another
// program may have that browser's port by now: the browser must return the GUID in its
// version before it gets a request with it.
func Resolve(ctx context.Context, options *dial.Options, endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("the endpoint is not a URL")
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return askVersion(ctx, options, u)
	}
	prefix, _, hasGUID := strings.Cut(u.Path, browserPath)
	if !hasGUID || u.Scheme != "ws" {
		return endpoint, nil
	}
	address := *u
	address.Scheme, address.Path, address.RawPath = "http", prefix, ""
	named, err := askVersion(ctx, options, &address)
	if err != nil {
		return "", err
	}
	if now, err := url.Parse(named); err != nil || now.EscapedPath() != u.EscapedPath() {
		return "", fmt.Errorf("another browser listens at %s now", u.Host)
	}
	return endpoint, nil
}

// askVersion requests the address of a browser's WebSocket. A token or prefix in the path
// stays in front of /json/version.
func askVersion(ctx context.Context, options *dial.Options, u *url.URL) (string, error) {
	address := *u
	address.Path, address.RawPath = strings.TrimSuffix(u.Path, "/")+"/json/version", ""
	place := dial.Place(u.String())
	body, err := dial.Get(ctx, address.String(), maxVersionReply, options)
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", place, err)
	}
	var version struct {
		WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal(body, &version); err != nil || version.WebSocketDebuggerURL == "" {
		return "", fmt.Errorf("%s does not answer like a browser: no webSocketDebuggerUrl in its version", place)
	}
	named, err := url.Parse(version.WebSocketDebuggerURL)
	if err != nil {
		return "", fmt.Errorf("%s does not answer like a browser: its webSocketDebuggerUrl is not a URL", place)
	}
	// The response names the path. The host stays the one that the caller named: a peer must
	// not redirect the connection to another host.
	named.Scheme, named.User, named.Host = "ws"+strings.TrimPrefix(u.Scheme, "http"), nil, u.Host
	if named.RawQuery == "" {
		named.RawQuery = u.RawQuery // a token that every request needs
	}
	return named.String(), nil
}
