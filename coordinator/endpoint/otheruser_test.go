package endpoint_test

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
)

// TestUnauthenticatedOwner: another user's program listens on the window's port while no
// coordinator serves it. Coordinators do not even ask it.
func TestUnauthenticatedOwner(t *testing.T) {
	state(t)
	before, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int32
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(before.Port)))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) })}
	go server.Serve(ln)
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	asked, err := endpoint.Ask(ctx, hash)
	if err != nil || asked.Served || asked.RequiresToken != !cdpproxy.PeerProof {
		t.Errorf("Ask: %+v, %v", asked, err)
	}
	if stream, err := endpoint.Log(ctx, hash, 0); err == nil {
		stream.Close()
		t.Error("the other program's log is taken for the window's")
	}
	serving := newTurns()
	e := serve(t, hash, "owner", serving)
	serving.await(t)
	if !e.Owner() || e.Address().Port == before.Port {
		t.Errorf("beside the other program the endpoint is at %+v", e.Address())
	}
	serve(t, hash, "other", serving)
	if n := requests.Load(); n > 0 {
		t.Errorf("the other program got %d requests", n)
	}
}
