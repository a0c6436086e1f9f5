// Package private serves a browser in this process to the other processes of the
// user, at an address on loopback that is a secret.
//
//	s, err := private.Serve(b, logger)
//	if err != nil { … }
//	defer s.Close()
//	url := s.URL() // ws://127.0.0.1:PORT/SECRET/devtools/browser/ID
//
// A debugging port is open to every user of the machine. The listener here is not. Each
// path begins with a secret, requests of web pages are refused, and on Linux the kernel
// reports which user connects. It is not an endpoint for the user's programs: it judges
// no message.
package private

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/peer"
	"browser-coordinator/policy"
)

// closeTimeout bounds the end of the clients' connections.
const closeTimeout = 5 * time.Second

// Server serves one browser. Its methods may be called from any goroutine.
type Server struct {
	url     string
	proxy   *cdpproxy.Proxy
	log     *slog.Logger
	running sync.WaitGroup
}

// Serve serves a browser until Close.
func Serve(b browser.Browser, logger *slog.Logger) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the clients of the browser: %w", err)
	}
	secret := browser.NewID()
	s := &Server{url: fmt.Sprintf("ws://%s/%s/devtools/browser/%s", ln.Addr(), secret, browser.NewID()), log: logger}
	served := &cdpproxy.Browser{Generation: 1, Name: "private", URL: s.url, InProcess: b}
	s.proxy = cdpproxy.New(source{served}, &cdpproxy.Options{
		Token: secret, RequireToken: true, HoldTimeout: cdpproxy.NoHold, Rule: allow{}, Logger: logger,
	})
	s.running.Go(func() {
		if err := s.proxy.Serve(peer.Listener{Listener: ln}); err != nil {
			logger.Error("the browser is no longer served", "error", err)
		}
	})
	return s, nil
}

// URL is the browser-level WebSocket URL. Its path is a secret.
func (s *Server) URL() string { return s.url }

// Close disconnects the clients, and returns when all have left.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.proxy.Shutdown(ctx); err != nil {
		s.log.Debug("end the server of a browser", "error", err)
	}
	s.running.Wait()
}

// source names the one browser.
type source struct{ browser *cdpproxy.Browser }

func (s source) Browser() (*cdpproxy.Browser, <-chan struct{}) { return s.browser, nil }

// allow is the rule of a server whose clients are this program's own: they apply theirs.
type allow struct{}

func (allow) Join(context.Context, *cdpproxy.Client) error { return nil }
func (allow) Register(*cdpproxy.Client, func(string))      {}
func (allow) Observe(*cdpproxy.Client, *browser.Message)   {}
func (allow) Unregister(*cdpproxy.Client)                  {}
func (allow) Judge(*cdpproxy.Client, *browser.Message) cdpproxy.Decision {
	return cdpproxy.Decision{Outcome: policy.Allow}
}
