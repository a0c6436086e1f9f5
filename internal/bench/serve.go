//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/policy"
)

// serve is one relay, or the peer, in a process of its own. It prints its address, and
// ends when its input ends.
func serve(kind, target string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	var handler http.Handler
	switch kind {
	case "endpoint":
		rule := access.NewRule(freeHand{}, nil)
		defer rule.Close()
		serveProxy(ln, target, &cdpproxy.Options{Rule: rule})
	case "ReverseProxy":
		handler = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: u.Host})
	case "whole messages":
		handler = wholeMessages(u.Host)
	case "peer":
		handler = http.HandlerFunc(servePeer)
	default:
		return fmt.Errorf("serve what? %q", kind)
	}
	if handler != nil {
		go http.Serve(ln, handler)
	}
	fmt.Println(ln.Addr())
	io.Copy(io.Discard, os.Stdin)
	return nil
}

func serveProxy(ln net.Listener, target string, opts *cdpproxy.Options) {
	go cdpproxy.New(oneBrowser{&cdpproxy.Browser{Generation: 1, Name: "measured", URL: target}}, opts).Serve(ln)
}

type oneBrowser struct{ browser *cdpproxy.Browser }

func (o oneBrowser) Browser() (*cdpproxy.Browser, <-chan struct{}) { return o.browser, nil }

// freeHand is a window in mode full: its rule reads every message and allows it.
type freeHand struct{}

func (freeHand) Access() (policy.State, <-chan struct{}) {
	return policy.State{Mode: policy.ModeFull}, nil
}

func (freeHand) Ask(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer{Allow: true}, nil
}

// wholeMessages relays as chromedp-proxy does: it reads a message to its end, and then
// writes it.
func wholeMessages(host string) http.Handler {
	discovery := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: host})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			discovery.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		up, _, err := websocket.Dial(ctx, "ws://"+host+r.URL.Path, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer up.CloseNow()
		client, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			return
		}
		defer client.CloseNow()
		up.SetReadLimit(-1)
		client.SetReadLimit(-1)
		ended := make(chan struct{}, 2)
		for from, to := range map[*websocket.Conn]*websocket.Conn{up: client, client: up} {
			go passMessages(ctx, from, to, ended)
		}
		<-ended
	})
}

func passMessages(ctx context.Context, from, to *websocket.Conn, ended chan<- struct{}) {
	for {
		kind, message, err := from.Read(ctx)
		if err == nil {
			err = to.Write(ctx, kind, message)
		}
		if err != nil {
			ended <- struct{}{}
			return
		}
	}
}
