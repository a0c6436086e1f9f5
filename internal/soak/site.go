//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// site serves the marked pages, and counts their actions. An action reports itself here
// before it returns, so it is known even if the browser is killed next.
type site struct {
	url    string
	server *http.Server

	mu     sync.Mutex // guards the fields that follow
	acts   map[string]int
	floods map[string]chan struct{} // by the mark of a window's first page
}

// pageHTML has no element but the button. The end of the page's address names the
// action, and a count in the page numbers it. A window's first page, whose mark has no "-", logs messages when
// the site responds.
const pageHTML = `<!doctype html><title>%[1]s</title><h1>This page is %[1]s.</h1>
<button id="act-%[1]s" onclick="act(location.hash.slice(1))">Act</button>
<script>
const mark = %[1]q;
function act(id) {
	const report = new XMLHttpRequest();
	report.open("POST", "/act?id=" + id, false);
	report.send();
	return {mark, id, count: Number(report.responseText)};
}
async function flood() {
	while ((await fetch("/flood?mark=" + mark)).ok)
		for (let i = 0; i < 1000; i++) console.debug(i);
}
if (!mark.includes("-")) flood();
</script>`

func startSite() (*site, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{url: "http://" + ln.Addr().String(), acts: map[string]int{}, floods: map[string]chan struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, pageHTML, r.URL.Query().Get("mark"))
	})
	mux.HandleFunc("POST /act", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, s.count(r.URL.Query().Get("id")))
	})
	mux.HandleFunc("GET /flood", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.floodOf(r.URL.Query().Get("mark")):
		case <-r.Context().Done():
		}
	})
	s.server = &http.Server{Handler: mux}
	go s.server.Serve(ln) // ends with close
	return s, nil
}

func (s *site) floodOf(window string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.floods[window] == nil {
		s.floods[window] = make(chan struct{})
	}
	return s.floods[window]
}

// flood has the first page of a window log 60,000 messages, so many at once that those which are not stopped
// can read them. It reports whether it did before ctx ended.
func (s *site) flood(ctx context.Context, window string) bool {
	for range 60 {
		select {
		case s.floodOf(window) <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (s *site) count(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts[id]++
	return s.acts[id]
}

// done is how often the action ran.
func (s *site) done(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acts[id]
}

// page is the address of the page with that mark.
func (s *site) page(mark string) string { return s.url + "/page?mark=" + mark }

func (s *site) close() { s.server.Close() }
