// Package guard refuses the HTTP requests to a loopback listener that a web page can have
// sent, and compares secrets.
package guard

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Pages are the web pages that a listener admits, and what a refusal advises.
type Pages struct {
	// Origins are those of the pages.
	Origins []string
	// Prints is the command that prints the listener's address.
	Prints string
	// Admit is a flag that admits an origin; empty: there is none.
	Admit string
	// Linked is the path of a document to which any page may link; empty: there is none.
	Linked string
}

// Refusal refuses every request that a web page can send; empty: the request is admitted.
// A name that was rebound to loopback shows in Host. A page of another site shows in Origin
// or, where a GET carries no Origin, in Sec-Fetch-Site.
//
// Sec-Fetch-Site is "none" for a typed address, but also for a fetch by an
// extension's worker, for a prefetch, and for a redirect from a typed address of
// any site. The redirect is indistinguishable, so no request of a web browser has
// an effect.
func (p *Pages) Refusal(r *http.Request) string {
	if !isLoopback(r.Host) {
		return fmt.Sprintf("Host %q refused: this endpoint answers only to 127.0.0.1, [::1] and localhost, so that no "+
			"web page can reach it by another name. Use the address that `%s` prints.", r.Host, p.Prints)
	}
	if r.Method == http.MethodOptions {
		return "refused: a preflight (OPTIONS). Web pages may not drive this browser."
	}
	for _, name := range speculative {
		if purpose := r.Header.Get(name); purpose != "" {
			return fmt.Sprintf("refused: the browser fetches ahead for a web page (%s %q). To look at this address "+
				"yourself, type it into the address bar.", name, purpose)
		}
	}
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		if !slices.Contains(p.Origins, origin) {
			advice := ""
			if p.Admit != "" {
				advice = fmt.Sprintf(" If this page is meant to, start the coordinator with `%s %s`.", p.Admit, origin)
			}
			return fmt.Sprintf("Origin %q refused: web pages may not drive this browser.%s", origin, advice)
		}
	}
	if len(origins) > 0 || p.isLinked(r) {
		return ""
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin":
	case "none":
		if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
			return fmt.Sprintf("refused: an extension (Sec-Fetch-Site %q, Sec-Fetch-Mode %q) may not drive this "+
				"browser. To look at this address yourself, type it into the address bar.", site, mode)
		}
	default:
		return fmt.Sprintf("refused: a web page (Sec-Fetch-Site %q) may not drive this browser. To look at this "+
			"address yourself, type it into the address bar.", site)
	}
	return ""
}

// isLinked reports whether r opens the linked document in a tab.
func (p *Pages) isLinked(r *http.Request) bool {
	return p.Linked != "" && r.URL.Path == p.Linked && r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// speculative are the headers of prefetches and prerenderings, which no user has
// requested yet, in the forms of current and of older browsers.
var speculative = []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}

// isLoopback reports whether a Host header names loopback, with or without a
// port. It is stricter than Chromium, which takes any IP address.
func isLoopback(host string) bool {
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

// HasBearer reports whether a request has the token in its Authorization header.
func HasBearer(r *http.Request, token string) bool {
	scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && SameSecret(strings.TrimSpace(bearer), token)
}

// SameSecret compares in a time that does not depend on where the two differ.
func SameSecret(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}
