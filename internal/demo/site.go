package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"
)

//go:embed site
var siteFiles embed.FS

// site is the sample page's web server, on loopback only.
type site struct {
	url    string
	server *http.Server
	ended  chan error
}

func serveSite() (*site, error) {
	files, err := fs.Sub(siteFiles, "site")
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the sample page: %w", err)
	}
	s := &site{
		url:    "http://" + ln.Addr().String() + "/",
		server: &http.Server{Handler: http.FileServerFS(files), ReadHeaderTimeout: 5 * time.Second},
		ended:  make(chan error, 1),
	}
	go s.serve(ln)
	return s, nil
}

func (s *site) serve(ln net.Listener) { s.ended <- s.server.Serve(ln) }

// close ends the server and waits for it.
func (s *site) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if served := <-s.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
