package cdpproxy

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"browser-coordinator/cdpproxy/guard"
)

// refusal is an HTTP error response.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func forbidden(format string, args ...any) *refusal {
	return &refusal{http.StatusForbidden, fmt.Sprintf(format, args...)}
}

// checkPage refuses every request that a web page can send, but of those that the options admit.
func (p *Proxy) checkPage(r *http.Request) *refusal {
	pages := guard.Pages{
		Origins: append([]string{DevToolsOrigin}, p.opts.AllowOrigins...),
		Prints:  "coordinator endpoint", Admit: "--allow-origin",
	}
	if refusal := pages.Refusal(r); refusal != "" {
		return forbidden("%s", refusal)
	}
	return nil
}

// byWebBrowser reports whether a web browser sent r, for a page or from its address
// bar. Browsers from before 2023 may send no Sec-Fetch headers. The fetch of Node,
// which Puppeteer uses for discovery, sends Sec-Fetch-Mode alone; a web browser
// never sends it without Sec-Fetch-Site. It does not cover WebSockets: their Origin
// names the page.
func byWebBrowser(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") && name != "Sec-Fetch-Mode" {
			return true
		}
	}
	return strings.HasPrefix(r.UserAgent(), "Mozilla/")
}

// admit decides whether the client is admitted, and returns the mount in its URL
// ("" or "/TOKEN") and the path below it.
func (p *Proxy) admit(r *http.Request) (mount, path string, no *refusal) {
	path = r.URL.EscapedPath()
	if p.opts.Token != "" {
		segment, rest, deeper := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if guard.SameSecret(segment, p.opts.Token) {
			if deeper {
				rest = "/" + rest
			}
			// A client that puts the token before every path, as with
			// chrome-remote-interface's alterPath, also puts it before the path of
			// webSocketDebuggerUrl, which has it already.
			if second, ok := strings.CutPrefix(rest, "/"+p.opts.Token+"/"); ok {
				rest = "/" + second
			}
			return "/" + p.opts.Token, rest, nil
		}
		if guard.HasBearer(r, p.opts.Token) {
			return "", path, nil
		}
	}
	if p.RequiresToken() || !PeerProof {
		return "", "", forbidden("token missing or wrong: this endpoint is open only to http://%s/TOKEN/ or with "+
			"the header \"Authorization: Bearer TOKEN\". `coordinator endpoint --token`, run by the user who runs "+
			"the coordinator, prints the address with its token.", ownHost(r))
	}
	if err := samePeer(r); err != nil {
		return "", "", forbidden("refused: %v. Without the token this endpoint is open only to the user who runs "+
			"the coordinator; with it, use http://%s/TOKEN/ as `coordinator endpoint --token` prints it to that "+
			"user.", err, ownHost(r))
	}
	return "", path, nil
}

// ownHost is the proxy's own address as the client reached it, for the URLs in
// responses. It is never taken from Host, which the client chooses.
func ownHost(r *http.Request) string {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return "127.0.0.1"
	}
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return addr.String()
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()).String()
}
