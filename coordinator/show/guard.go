package show

import (
	"errors"
	"fmt"
	"net/http"
)

// contentPolicy lets the page run its own files, and talk to this server only.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-src 'self'; worker-src 'none'; frame-ancestors 'self'; form-action 'none'; base-uri 'none'"

// speculative are the headers of requests that no user has made yet.
var speculative = []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}

// checkPage refuses what other web pages can send. A name that was rebound to loopback shows in
// Host, a page of another origin in Origin or in Sec-Fetch-Site. A link may be in another
// page: the page's files are no secret.
func (s *Server) checkPage(r *http.Request) error {
	if r.Host != s.host {
		return fmt.Errorf("this page is only at http://%s/", s.host)
	}
	own := "http://" + s.host
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		if origin != own {
			return errors.New("refused: a request of another web page")
		}
	}
	for _, name := range speculative {
		if r.Header.Get(name) != "" {
			return errors.New("refused: the browser fetches ahead")
		}
	}
	if r.Header.Get("Service-Worker") != "" { // it would see the requests of all tabs
		return errors.New("refused: this page has no service worker")
	}
	upgrades := r.Header.Get("Upgrade") != ""
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		return fmt.Errorf("refused: the method %s", r.Method)
	case (r.Method == http.MethodPost || upgrades) && len(origins) == 0:
		return errors.New("refused: a request without an Origin")
	case r.URL.Path == "/" && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Dest") == "document":
		return nil
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return nil
	default:
		return fmt.Errorf("refused: a web page of another origin (Sec-Fetch-Site %q)", site)
	}
}
