// Package devtools is the DevTools server of a browser that has none: /json/* and
// WebSockets, as Chromium serves them, at an address that the coordinator alone knows.
//
//	s, err := devtools.Listen(browser, logger)
//	if err != nil { … }
//	defer s.Wait()
//	defer s.End(0, "")
//	url := s.URL() // ws://127.0.0.1:PORT/SECRET/devtools/browser/GUID
//
// A debugging port is open to every user of the machine. The listener here is not.
// Each path begins with a secret, requests of web pages are refused, and on Linux
// the kernel reports which user connects.
package devtools

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/cdpproxy/peer"
)

// Browser is what a server presents.
type Browser interface {
	// Product is the result of Browser.getVersion.
	Product(ctx context.Context) (discovery.Product, error)
	// Targets lists the targets for /json/list, without addresses.
	Targets(ctx context.Context) ([]discovery.Target, error)
	// Open opens a page.
	Open(ctx context.Context, address string) (discovery.Target, error)
	// Act carries out Target.activateTarget or Target.closeTarget.
	Act(ctx context.Context, method, target string) error
	// Join connects a client to the page with that id, or to the browser if that is
	// empty. It may send messages to the client already.
	Join(ctx context.Context, c *Client, page string) (Session, error)
}

// Session is a client's part of a browser.
type Session interface {
	// Receive handles the client's commands, one at a time.
	Receive(command Message)
	// Leave ends what the client has set up, and returns when nothing is left of it.
	Leave()
}

// ErrNoTarget is a Browser's error for the id of a target that it does not have.
var ErrNoTarget = errors.New("no target with given id found")

const noTarget = "No such target id: " // Chromium's text

// Server serves one browser. Its methods may be called from any goroutine.
type Server struct {
	browser      Browser
	address      string // HOST:PORT
	secret, guid string
	http         *http.Server
	wg           sync.WaitGroup // the listener and the requests

	mu      sync.Mutex // guards the fields that follow
	ended   bool
	clients map[*Client]struct{}
}

// Listen serves a browser on a loopback port until End.
func Listen(b Browser, logger *slog.Logger) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the clients of the browser: %w", err)
	}
	s := &Server{browser: b, address: ln.Addr().String(), secret: RandomID(), guid: RandomID(), clients: map[*Client]struct{}{}}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	s.wg.Go(func() {
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("the browser is no longer served", "error", err)
		}
	})
	return s, nil
}

// RandomID is a secret of 128 bits, in the form of Chromium's ids.
func RandomID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return fmt.Sprintf("%X", b)
}

// URL is the browser-level WebSocket URL. Its path is a secret.
func (s *Server) URL() string { return "ws://" + s.base() + "/devtools/browser/" + s.guid }

// GUID is the browser's id in the URL.
func (s *Server) GUID() string { return s.guid }

func (s *Server) base() string { return s.address + "/" + s.secret }

// End begins the end: nobody connects any longer, and the clients are disconnected,
// with the reason if there is a code. It does not block.
func (s *Server) End(code websocket.StatusCode, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for c := range s.clients {
		c.End(code, why)
	}
	s.http.Close()
}

// Wait returns after End, when every client has left.
func (s *Server) Wait() { s.wg.Wait() }

// enter counts a request that Wait waits for; false: the server has ended.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.wg.Add(1)
	}
	return !s.ended
}

// add reports whether the server serves a new client.
func (s *Server) add(c *Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.clients[c] = struct{}{}
	}
	return !s.ended
}

func (s *Server) remove(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
}

type connKey struct{}

// admit checks the peer. The path begins with the secret, the request has no Origin
// (a web page's WebSocket has one), and the kernel reports no other user.
func (s *Server) admit(r *http.Request) (path string, ok bool) {
	secret, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if subtle.ConstantTimeCompare([]byte(secret), []byte(s.secret)) != 1 || len(r.Header.Values("Origin")) > 0 {
		return "", false
	}
	conn, known := r.Context().Value(connKey{}).(net.Conn)
	if !known || errors.As(peer.CheckClient(conn), new(*peer.OtherUserError)) {
		return "", false
	}
	return "/" + rest, true
}

// handle responds like Chromium's DevTools server, below the secret.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	path, ok := s.admit(r)
	if !ok {
		w.Header().Set("Connection", "close")
		http.Error(w, "this address is for the coordinator alone; `coordinator endpoint` prints the one for CDP clients", http.StatusForbidden)
		return
	}
	if !s.enter() {
		return // this connection ends too
	}
	defer s.wg.Done()
	if path == "/json" {
		path = "/json/list"
	}
	request, isJSON := strings.CutPrefix(path, "/json/")
	page, isPage := strings.CutPrefix(path, "/devtools/page/")
	switch {
	case isJSON:
		s.serveJSON(w, r, request)
	case path == "/devtools/browser/"+s.guid:
		s.serveClient(w, r, "")
	case isPage && page != "":
		s.serveClient(w, r, page)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) serveJSON(w http.ResponseWriter, r *http.Request, request string) {
	ctx := r.Context()
	name, id, _ := strings.Cut(request, "/")
	switch name {
	case "list":
		targets, err := s.browser.Targets(ctx)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		revision := s.revision(ctx)
		for i, t := range targets {
			targets[i] = t.At(s.base(), revision)
		}
		discovery.AnswerJSON(w, append([]discovery.Target{}, targets...))
	case "version":
		p, err := s.browser.Product(ctx)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		discovery.AnswerJSON(w, p.Version(s.URL()))
	case "protocol":
		w.Header().Set("Content-Type", discovery.ContentType)
		discovery.WriteProtocol(w) // fails if the client has gone
	case "new":
		s.serveNew(w, r)
	case "activate":
		s.act(ctx, w, "Target.activateTarget", id, "Target activated")
	case "close":
		s.act(ctx, w, "Target.closeTarget", id, "Target is closing")
	default:
		http.Error(w, "Unknown command: "+name, http.StatusNotFound)
	}
}

func (s *Server) act(ctx context.Context, w http.ResponseWriter, method, id, done string) {
	switch err := s.browser.Act(ctx, method, id); {
	case errors.Is(err, ErrNoTarget):
		http.Error(w, noTarget+id, http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		io.WriteString(w, done)
	}
}

func (s *Server) serveNew(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		http.Error(w, "a page is opened with PUT", http.StatusMethodNotAllowed)
		return
	}
	t, err := s.browser.Open(r.Context(), cmp.Or(discovery.NewAddress(r.URL.RawQuery), "about:blank"))
	if err != nil {
		http.Error(w, "Could not create new page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	discovery.AnswerJSON(w, t.At(s.base(), s.revision(r.Context())))
}

// revision is the browser's, for the address of the DevTools front end.
func (s *Server) revision(ctx context.Context) string {
	p, err := s.browser.Product(ctx)
	if err != nil {
		return ""
	}
	return p.Revision
}
