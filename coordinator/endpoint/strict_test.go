package endpoint_test

import (
	"net/http"
	"testing"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/internal/must"
)

func serveStrict(t *testing.T, serving turns) *endpoint.Endpoint {
	t.Helper()
	opts := options("strict", serving.begin)
	opts.RequireToken = true
	strict, err := endpoint.Serve(t.Context(), hash, none{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(strict.Close)
	return strict
}

// TestStrictOwner: the owner decides whether clients need the token, for all clients,
// until it ends.
func TestStrictOwner(t *testing.T) {
	state(t)
	serving := newTurns()
	strict := serveStrict(t, serving)
	serving.await(t)
	asked := func() endpoint.Addr {
		t.Helper()
		addr, err := endpoint.Ask(t.Context(), hash)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	other := serve(t, hash, "other", serving)
	for name, addr := range map[string]endpoint.Addr{"the owner": strict.Address(), "standby": other.Address(),
		"Ask": asked()} {
		if !addr.RequiresToken || addr.ClientURL() != addr.TokenURL {
			t.Errorf("%s: %+v", name, addr)
		}
	}
	strict.Close()
	serving.await(t)
	for name, addr := range map[string]endpoint.Addr{"the next owner": other.Address(), "Ask after that": asked()} {
		if addr.RequiresToken == cdpproxy.PeerProof {
			t.Errorf("%s: %+v", name, addr)
		}
	}
}

// TestStrictStandsBy: a coordinator that stands by and requires the token makes the owner
// require it, while it stands by.
func TestStrictStandsBy(t *testing.T) {
	if !cdpproxy.PeerProof {
		t.Skip("the token is always required here")
	}
	state(t)
	serving := newTurns()
	plain := serve(t, hash, "plain", serving)
	serving.await(t)
	status := func() int {
		t.Helper()
		res, err := http.Get(plain.URL())
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := status(); got != http.StatusOK {
		t.Fatalf("before: HTTP %d", got)
	}
	strict := serveStrict(t, serving)
	if got := status(); got != http.StatusForbidden || strict.Owner() {
		t.Errorf("without the token: HTTP %d", got)
	}
	if addr, err := endpoint.Ask(t.Context(), hash); err != nil || !addr.RequiresToken {
		t.Errorf("Ask: %+v, %v", addr, err)
	}
	strict.Close()
	// The end of a connection has an event only on its other side.
	must.Await(t, "the port answers", func() bool { return status() == http.StatusOK })
}
