package endpoint_test

import (
	"testing"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
)

// TestStrictOwner: whether clients need the token is for the one who serves the
// endpoint to say, whoever asks, and no longer when it has gone.
func TestStrictOwner(t *testing.T) {
	state(t)
	serving := newTurns()
	opts := options("strict", serving.begin)
	opts.Proxy.RequireToken = true
	strict, err := endpoint.Serve(t.Context(), hash, none{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeEndpoint(t, strict) })
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
	for name, addr := range map[string]endpoint.Addr{"the owner": strict.Address(), "who stands by": other.Address(), "who asks": asked()} {
		if !addr.RequiresToken || addr.ClientURL() != addr.TokenURL {
			t.Errorf("%s: %+v", name, addr)
		}
	}
	closeEndpoint(t, strict)
	serving.await(t)
	for name, addr := range map[string]endpoint.Addr{"the next owner": other.Address(), "who asks then": asked()} {
		if addr.RequiresToken == cdpproxy.PeerProof {
			t.Errorf("%s: %+v", name, addr)
		}
	}
}
