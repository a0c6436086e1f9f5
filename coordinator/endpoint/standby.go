package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// A coordinator that stands by keeps one request open at the owner. Its end is
// the event that the owner has gone, however it went: the kernel closes a dead
// process's connections.

// hashHeader tells that the one who answers serves this window's endpoint.
const hashHeader = "Browser-Coordinator-Window"

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
	released <-chan struct{}
}

func (h *standbyHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(hashHeader, h.hash)
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

// standBy returns nil when the owner has gone or ctx has ended; an error when
// there was no owner to wait for.
func (e *Endpoint) standBy(ctx context.Context, ready chan error) error {
	addr, err := e.files.address()
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.addr = addr
	e.mu.Unlock()

	transport := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		ResponseHeaderTimeout: 5 * time.Second,
		DisableKeepAlives:     true,
		DisableCompression:    true,
	}
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(addr.Port)) + standbyPath(e.token)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if got := res.Header.Get(hashHeader); res.StatusCode != http.StatusOK || got != e.files.hash {
		return fmt.Errorf("%s is not served by this window's coordinator (HTTP %d)", addr.URL, res.StatusCode)
	}
	tell(ready, nil)
	io.Copy(io.Discard, res.Body)
	return nil
}
