package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/dial"
)

// Product requests the name and version of the browser behind a CDP WebSocket URL, such
// as Chrome/156.0.8078.79.
func Product(ctx context.Context, wsURL string) (string, error) {
	u, err := url.Parse(wsURL)
	if err != nil {
		return "", err
	}
	base, _, _ := strings.Cut(u.EscapedPath(), "/devtools/") // with the secret of a pipe
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	text, err := dial.Get(ctx, "http://"+u.Host+base+"/json/version", 64<<10, nil)
	if err != nil {
		return "", fmt.Errorf("ask the browser for its version: %w", err)
	}
	var version struct{ Browser string }
	if err := json.Unmarshal(text, &version); err != nil {
		return "", fmt.Errorf("ask the browser for its version: %w", err)
	}
	return version.Browser, nil
}
