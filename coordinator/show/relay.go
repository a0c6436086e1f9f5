package show

import (
	"cmp"
	"crypto/rand"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"browser-coordinator/cdpproxy/dial"
)

// relayPath is before the names of browsers.
const relayPath = "cdp/"

// relayLifetime is how long the page's address for a browser's is kept after the page was last given
// it. The page gets the addresses of all browsers each second.
const relayLifetime = time.Minute

// relay is what the page's address for a browser leads to.
type relay struct {
	address string // of the browser
	given   time.Time
}

// relayTo returns the page's address for a browser's; empty for none.
func (s *Server) relayTo(address string) string {
	if address == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, known := range s.relays {
		if known.address == address {
			known.given = time.Now()
			return relayPath + name
		}
	}
	maps.DeleteFunc(s.relays, func(_ string, known *relay) bool { return time.Since(known.given) > relayLifetime })
	name := rand.Text()
	s.relays[name] = &relay{address, time.Now()}
	return relayPath + name
}

// relay connects the page with a browser. What the user does there needs no rule.
func (s *Server) relay(w http.ResponseWriter, r *http.Request, name string) {
	s.mu.Lock()
	known := cmp.Or(s.relays[name], &relay{})
	s.mu.Unlock()
	target, err := url.Parse(known.address)
	if known.address == "" || err != nil || r.Header.Get("Upgrade") == "" {
		http.Error(w, "There is no such browser.", http.StatusNotFound)
		return
	}
	target.Scheme = "http"
	proxy := httputil.ReverseProxy{
		Transport: dial.Client(nil).Transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL, p.Out.Host = target, target.Host
			for _, header := range []string{"Cookie", "Origin", "User-Agent"} { // a browser refuses web pages
				p.Out.Header.Del(header)
			}
			p.Out.Header["User-Agent"] = nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			s.log.Debug("the page cannot reach a browser", "browser", dial.Place(known.address), "error", err)
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(w, r)
}
