package endpoint_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
)

// impostor is an unauthenticated peer: another user's program that listens on the
// window's port, has all public knowledge, and records its requests.
type impostor struct {
	port int
	ask  func(path string) (*http.Response, error) // a peer that may know more; nil: none

	mu    sync.Mutex // guards paths
	paths []string   // of the requests
}

func listenAs(t *testing.T, s *impostor) {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		t.Fatal(err)
	}
	s.port = ln.Addr().(*net.TCPAddr).Port
	server := &http.Server{Handler: s}
	go server.Serve(ln)
	t.Cleanup(func() { server.Close() })
}

func (s *impostor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths = append(s.paths, r.URL.Path)
	s.mu.Unlock()
	w.Header().Set("Browser-Coordinator-Window", hash)
	w.Header().Set("Browser-Coordinator-Token", "required")
	w.Header().Set("Browser-Coordinator-Nonce", strings.Repeat("0", 32))
	w.Header().Set("Browser-Coordinator-Proof", strings.Repeat("0", 64))
	if s.ask != nil {
		res, err := s.ask(r.URL.Path)
		if err == nil {
			res.Body.Close()
			for _, name := range []string{"Browser-Coordinator-Nonce", "Browser-Coordinator-Proof"} {
				w.Header().Set(name, res.Header.Get(name))
			}
		}
	}
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	<-r.Context().Done() // as an owner would
}

// secrets are the recorded paths that only an owner should get.
func (s *impostor) secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.paths), func(path string) bool { return strings.HasPrefix(path, "/prove/") })
}

// TestUnauthenticatedOwner: a program listens on the window's port while no coordinator serves
// it, and responds as an owner would. Clients do not trust it and send it no secret.
func TestUnauthenticatedOwner(t *testing.T) {
	state(t)
	before, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	s := &impostor{port: before.Port}
	listenAs(t, s)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	asked, err := endpoint.Ask(ctx, hash)
	if err != nil || asked.Served || asked.RequiresToken != !cdpproxy.PeerProof {
		t.Errorf("Ask: %+v, %v", asked, err)
	}
	if stream, err := endpoint.Log(ctx, hash, 0); err == nil {
		stream.Close()
		t.Error("the impostor's log is taken for the window's")
	}
	serving := newTurns()
	e := serve(t, hash, "owner", serving)
	serving.await(t)
	if !e.Owner() || e.Address().Port == before.Port {
		t.Errorf("beside the impostor the endpoint is at %+v", e.Address())
	}
	if sent := s.secrets(); len(sent) > 0 {
		t.Errorf("the impostor got %q", sent)
	}
}

// TestRelayedProof: an unauthenticated peer that relays the real owner's proof from
// another port does not pass as the owner.
func TestRelayedProof(t *testing.T) {
	dir := state(t)
	serving := newTurns()
	e := serve(t, hash, "owner", serving)
	serving.await(t)
	s := &impostor{ask: func(path string) (*http.Response, error) { return http.Get(e.URL() + path) }}
	for _, port := range []int{27001, 27002, 27003} { // a free one of the range
		if port != e.Address().Port {
			s.port = port
			break
		}
	}
	listenAs(t, s)
	if err := os.WriteFile(filepath.Join(dir, "endpoint-"+hash+".json"), fmt.Appendf(nil, `{"port":%d}`, s.port), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if stream, err := endpoint.Log(ctx, hash, 0); err == nil {
		stream.Close()
		t.Error("the impostor's log is taken for the window's")
	}
	if asked, err := endpoint.Ask(ctx, hash); err != nil || asked.RequiresToken != !cdpproxy.PeerProof {
		t.Errorf("Ask: %+v, %v", asked, err)
	}
	s.mu.Lock()
	requests := len(s.paths)
	s.mu.Unlock()
	if sent := s.secrets(); len(sent) > 0 || requests == 0 {
		t.Errorf("the impostor got %q in %d requests", sent, requests)
	}
}

// TestOldProof: a proof for one owner is invalid for the next one at the same port, and
// so is everything else.
func TestOldProof(t *testing.T) {
	state(t)
	serving := newTurns()
	first := serve(t, hash, "first", serving)
	serving.await(t)
	status := func(url string) int {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel() // a log has no end
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	log, err := endpoint.LogURL(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	if got := status(log); got != http.StatusOK {
		t.Fatalf("the log of the first owner: HTTP %d", got)
	}
	address := first.URL()
	first.Close()
	second := serve(t, hash, "second", serving)
	serving.await(t)
	if second.URL() != address {
		t.Fatalf("the second owner is at %s, not %s", second.URL(), address)
	}
	zeros := strings.Repeat("0", 64)
	for _, url := range []string{
		log, strings.Replace(log, "/log/", "/standby/", 1), address + "/log/", address + "/standby/",
		address + "/log/" + zeros[:32] + "/" + zeros, address + "/standby/" + zeros[:32] + "/", address + "/prove/", address + "/prove/" + zeros[:31],
	} {
		if got := status(url); got != http.StatusForbidden && got != http.StatusNotFound {
			t.Errorf("%s: HTTP %d", url, got)
		}
	}
}
