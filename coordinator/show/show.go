// Package show serves the page on which the user sees all their windows and private browsers,
// and answers what agents ask.
//
//	s, err := show.Serve(windows, logger)
//	if err != nil { … }
//	defer s.Close()
//	link := s.Link() // for the user's web browser, once
//
// The page is the extension's web code (extension/src/webview/show), built into the folder page.
// It speaks CDP to each browser, as the live view in VS Code does: this package is between them,
// so that no page gets a browser's address.
package show

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"browser-coordinator/cdpproxy/guard"
	"browser-coordinator/cdpproxy/peer"
	"browser-coordinator/coordinator/registry"
)

//go:embed page
var page embed.FS

// contentPolicy lets the page run its own files, and talk to this server only.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; frame-src 'self'; worker-src 'none'; frame-ancestors 'self'; form-action 'none'; " +
	"base-uri 'none'"

const (
	// bodyTimeout is how long the body of a request may take.
	bodyTimeout = 10 * time.Second
	// mostAdmitted bounds the connections of pages, beside those without a request.
	mostAdmitted = 128
)

// CodeLifetime is how long a link can be opened.
const CodeLifetime = 2 * time.Minute

// Server serves the page. Its methods may be called from any goroutine.
type Server struct {
	windows *registry.Registry
	log     *slog.Logger
	host    string // 127.0.0.1:PORT
	// root is the path of everything but the page's files. It is secret, and the proof of a tab that
	// has opened a link. A cookie is none: other tabs of a web browser have it, and in the user's own
	// Chrome these may be an agent's.
	root    string
	server  *http.Server
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex           // guards the fields that follow
	codes  map[string]time.Time // when each was made
	relays map[string]*relay    // by the names that the page has for them
}

// Serve serves the page on a port of 127.0.0.1 that the system chooses, until Close.
func Serve(windows *registry.Registry, logger *slog.Logger) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the page: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		windows: windows, log: logger, host: ln.Addr().String(), root: "/" + rand.Text() + "/", cancel: cancel,
		codes: map[string]time.Time{}, relays: map[string]*relay{},
	}
	conns := peer.Connections{Admitted: mostAdmitted}
	s.server = &http.Server{
		ConnState:         conns.Watch,
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	s.running.Go(func() { _ = s.server.Serve(peer.Listener{Listener: ln}) })
	return s, nil
}

// Close ends the server and its connections.
func (s *Server) Close() {
	s.cancel() // of the relays, which the server does not know
	s.server.Close()
	s.running.Wait()
}

// Link returns an address that admits the tab which opens it first. The code is in its fragment,
// which is no part of a request.
func (s *Server) Link() string {
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code] = time.Now()
	return "http://" + s.host + "/#" + code
}

// redeem reports whether a code is valid, and makes it invalid.
func (s *Server) redeem(code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	made, ok := s.codes[code]
	delete(s.codes, code)
	return ok && time.Since(made) < CodeLifetime
}

// below returns the rest of a path below the root; false: it is elsewhere.
func (s *Server) below(path string) (rest string, ok bool) {
	n := min(len(path), len(s.root))
	return path[n:], guard.SameSecret(path[:n], s.root)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	if err := s.checkPage(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	rest, admitted := s.below(r.URL.Path)
	name, isRelay := strings.CutPrefix(rest, relayPath)
	switch {
	case !admitted && r.URL.Path == "/open" && r.Method == http.MethodPost:
		s.open(w, r)
	case !admitted:
		serveFile(w, strings.TrimPrefix(r.URL.Path, "/"))
	case isRelay:
		s.relay(w, r, name)
	case rest == "feed":
		s.feed(w, r)
	case rest == "call":
		s.call(w, r)
	default:
		notFound(w)
	}
}

// checkPage refuses what other web pages can send. A link may be in another page: the page's files
// are no secret.
func (s *Server) checkPage(r *http.Request) error {
	pages := guard.Pages{Origins: []string{"http://" + s.host}, Prints: "coordinator show", Linked: "/"}
	refusal := pages.Refusal(r)
	upgrades := r.Header.Get("Upgrade") != ""
	switch {
	case r.Host != s.host:
		return fmt.Errorf("this page is only at http://%s/", s.host)
	case refusal != "":
		return errors.New(refusal)
	case r.Header.Get("Service-Worker") != "": // it would see the requests of all tabs
		return errors.New("refused: this page has no service worker")
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		return fmt.Errorf("refused: the method %s", r.Method)
	case (r.Method == http.MethodPost || upgrades) && r.Header.Get("Origin") == "":
		return errors.New("refused: a request without an Origin")
	}
	return nil
}

// open exchanges a code for the root.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	code, err := guard.Body(w, r, 100, bodyTimeout)
	if err != nil || !s.redeem(string(code)) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "This link has been used, or is too old: run `coordinator show` again.")
		return
	}
	fmt.Fprint(w, s.root)
}

func notFound(w http.ResponseWriter) { http.Error(w, "There is no such file.", http.StatusNotFound) }

// types are the media types of the page's files: those of the system may differ.
var types = map[string]string{".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

func serveFile(w http.ResponseWriter, name string) {
	if name == "" {
		name = "show.html"
	}
	data, err := page.ReadFile("page/" + name)
	if err != nil {
		notFound(w)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)]+"; charset=utf-8")
	_, _ = w.Write(data) // the reader may be gone
}
