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
