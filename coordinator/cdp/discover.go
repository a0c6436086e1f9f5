package cdp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxVersionReply bounds what is read of /json/version.
const maxVersionReply = 64 << 10

// resolve turns what a person or a configuration gives, http://host:port or a
// ws URL, into the browser's WebSocket address.
func resolve(ctx context.Context, client *http.Client, endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("parse the endpoint %q: %w", endpoint, err)
	}
	switch u.Scheme {
	case "ws", "wss":
		return endpoint, nil
	case "http", "https":
	default:
		return "", fmt.Errorf("endpoint %q: the scheme must be http, https, ws or wss", endpoint)
	}
	if u.Host == "" {
		return "", fmt.Errorf("endpoint %q: no host", endpoint)
	}
	// A token or prefix in the path stays in front of /json/version.
	u.Path = strings.TrimSuffix(u.Path, "/") + "/json/version"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", endpoint, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxVersionReply))
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w", endpoint, err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask %s for its version: %s: %s", endpoint, resp.Status, strings.TrimSpace(string(body)))
	}
	var version struct {
		WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal(body, &version); err != nil || version.WebSocketDebuggerURL == "" {
		return "", fmt.Errorf("%s does not answer like a browser: no webSocketDebuggerUrl in its version", endpoint)
	}
	return version.WebSocketDebuggerURL, nil
}
