package cdpproxy

import (
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
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

// checkPage refuses every request that a web page can send. A name that was rebound
// to loopback shows in Host. A page of another site shows in Origin or, where a GET
// carries no Origin, in Sec-Fetch-Site.
//
// Sec-Fetch-Site is "none" for a typed address, but also for a fetch by an
// extension's worker, for a prefetch, and for a redirect from a typed address of
// any site. The redirect is indistinguishable, so no request of a web browser has
// an effect.
func (p *Proxy) checkPage(r *http.Request) *refusal {
	if !loopbackHost(r.Host) {
		return forbidden("Host %q refused: this endpoint answers only to 127.0.0.1, [::1] and localhost, so that no "+
			"web page can reach it by another name. Use the address that `coordinator endpoint` prints.", r.Host)
	}
	if r.Method == http.MethodOptions {
		return forbidden("refused: a preflight (OPTIONS). Web pages may not drive this browser.")
	}
	for _, name := range speculative {
		if purpose := r.Header.Get(name); purpose != "" {
			return forbidden("refused: the browser fetches ahead for a web page (%s %q). To look at this address "+
				"yourself, type it into the address bar.", name, purpose)
		}
	}
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		if origin != DevToolsOrigin && !slices.Contains(p.opts.AllowOrigins, origin) {
			return forbidden("Origin %q refused: web pages may not drive this browser. If this page is meant to, "+
				"start the coordinator with `--allow-origin %s`.", origin, origin)
		}
	}
	if len(origins) > 0 {
		return nil
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin":
	case "none":
		if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
			return forbidden("refused: an extension (Sec-Fetch-Site %q, Sec-Fetch-Mode %q) may not drive this "+
				"browser. To look at this address yourself, type it into the address bar.", site, mode)
		}
	default:
		return forbidden("refused: a web page (Sec-Fetch-Site %q) may not drive this browser. To look at this "+
			"address yourself, type it into the address bar.", site)
	}
	return nil
}

// speculative are the headers of prefetches and prerenderings, which no user has
// requested yet, in the forms of current and of older browsers.
var speculative = []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}

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

// loopbackHost reports whether a Host header names loopback, with or without a
// port. It is stricter than Chromium, which takes any IP address.
func loopbackHost(host string) bool {
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:i], host[i+1:]
		if port == "" || strings.Trim(port, "0123456789") != "" {
			return false
		}
	}
	switch name = strings.ToLower(name); name {
	case "127.0.0.1", "[::1]", "localhost":
		return true
	}
	label, ok := strings.CutSuffix(name, ".localhost")
	return ok && label != "" && !strings.ContainsAny(label, ":[]/@ ")
}

// admit decides whether the client is admitted, and returns the mount in its URL
// ("" or "/TOKEN") and the path below it.
func (p *Proxy) admit(r *http.Request) (mount, path string, no *refusal) {
	path = r.URL.EscapedPath()
	if p.opts.Token != "" {
		segment, rest, deeper := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if sameSecret(segment, p.opts.Token) {
			if deeper {
				rest = "/" + rest
			}
			// A client that puts the token before every path, as with
			// chrome-remote-interface's alterPath, also puts it before the path of
			// webSocketDebuggerUrl, which has it already.
			if again, ok := strings.CutPrefix(rest, "/"+p.opts.Token+"/"); ok {
				rest = "/" + again
			}
			return "/" + p.opts.Token, rest, nil
		}
		scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, "Bearer") && sameSecret(strings.TrimSpace(bearer), p.opts.Token) {
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

func sameSecret(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
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
