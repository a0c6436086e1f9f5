package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/trusted"
)

// The range of ports is outside the ones that systems assign automatically (Linux from
// 32768, macOS and Windows from 49152), so no outgoing connection takes a window's port.
const (
	FirstPort = 21000
	Ports     = 10000
)

// Addr is the address of a window's endpoint, whether or not it is served now.
type Addr struct {
	Port int
	// URL admits processes of the same user, where the system can prove who they are (Linux).
	URL string
	// TokenURL admits every client that knows it; empty: there is no token yet.
	TokenURL string
	// Served reports whether a coordinator serves the endpoint now.
	Served bool
	// RequiresToken means that every client needs the token: the system cannot prove who a
	// client is, or the owner requires it. Only Ask and Serve, which send a request to the
	// owner, know the latter.
	RequiresToken bool
}

// ClientURL is the address that admits a client of the same user.
func (a Addr) ClientURL() string {
	if a.RequiresToken {
		return a.TokenURL
	}
	return a.URL
}

// WebSocketURL is the WebSocket of the window's current browser. It admits every client
// that knows the address: it is for clients that would drop TokenURL's path.
func (a Addr) WebSocketURL() string {
	return "ws" + strings.TrimPrefix(a.TokenURL, "http") + "/devtools/browser/any"
}

// Address returns the address of the endpoint of the window with this hash (16 hex
// digits). The first call fixes it: it chooses the port and makes the token.
func Address(hash string) (Addr, error) {
	_, addr, err := open(hash)
	return addr, err
}

func open(hash string) (*files, Addr, error) {
	f, err := openFiles(hash)
	return f.describe(err)
}

// look is open, but makes no file: where nothing was ever served, the port is the one
// that would be chosen now.
func look(hash string) (*files, Addr, error) {
	f, err := filesOf(hash)
	if err == nil && f.Port == 0 {
		f.Port, err = f.choose(0)
	}
	return f.describe(err)
}

func (f *files) describe(err error) (*files, Addr, error) {
	var addr Addr
	if err == nil {
		addr = f.addr(f.Port)
		addr.Served, err = f.isServed()
	}
	if err != nil {
		return nil, Addr{}, fmt.Errorf("endpoint address: %w", err)
	}
	return f, addr, nil
}

// URL is the address that admits processes of the same user; empty where it cannot be
// determined. It makes no file.
func URL(hash string) string {
	_, addr, err := look(hash)
	if err != nil {
		return ""
	}
	return addr.URL
}

// Ask is Address with a request to the owner for its settings. If a coordinator serves
// the endpoint but does not respond, Ask only reports that it is there. It
// makes no file if nothing was ever served: then there is no token.
func Ask(ctx context.Context, hash string) (Addr, error) {
	f, addr, err := look(hash)
	if err != nil || f.Token == "" {
		return addr, err
	}
	if s, err := f.state(ctx); err == nil {
		addr = f.addr(s.Port)
		addr.Served = true
		addr.RequiresToken = addr.RequiresToken || s.TokenRequired
	}
	return addr, nil
}

// PortInUse reports whether another program listens on one of the loopback addresses of
// an endpoint's port: an endpoint needs both.
func PortInUse(ctx context.Context, hash string, port int) bool {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		conn.Close()
		// It may be a coordinator that has become the owner meanwhile.
		_, a, err := look(hash)
		return err == nil && !a.Served
	}
	return false
}

func (f *files) addr(port int) Addr {
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	addr := Addr{Port: port, URL: url, RequiresToken: !cdpproxy.PeerProof}
	if f.Token != "" {
		addr.TokenURL = url + "/" + f.Token
	}
	return addr
}

// isServed tests the lock, which is always right. The test takes the lock for a moment,
// shared; a coordinator that tries to take it at that moment retries.
func (f *files) isServed() (bool, error) {
	if _, err := os.Lstat(f.path("lock")); errors.Is(err, fs.ErrNotExist) {
		return false, nil // the test would make the file
	}
	lock := flock.New(f.path("lock"), flock.SetPermissions(0o600))
	free, err := trusted.Lock(lock, lock.TryRLock)
	if err != nil {
		return false, err
	}
	return !free, lock.Close()
}

// candidate is the nth port of the window's own sequence. The step has no
// factor in common with Ports, so the sequence visits every port once.
func candidate(id uint64, n int) int {
	step := (id>>32)%Ports | 1
	if step%5 == 0 {
		step += 2
	}
	return FirstPort + int((id%Ports+uint64(n)*step)%Ports)
}
