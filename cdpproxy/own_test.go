package cdpproxy_test

import (
	"log/slog"
	"testing"

	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// upstream is a browser behind an endpoint.
type upstream struct {
	url      string
	handOver func(tab string) error // lets clients use a tab of the user
}

// inEach runs a test on the debug browser, and on the part of the user's own browser that
// clients reach. So nothing between the two lets a client evade the mode.
func inEach(t *testing.T, test func(t *testing.T, up upstream)) {
	t.Run("debug browser", func(t *testing.T) {
		test(t, upstream{cdptest.BrowserURL(t), func(string) error { return nil }})
	})
	t.Run("own browser", func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		whole := must.Get(multiplex.Serve(cdptest.DialTransport(t, cdptest.BrowserURL(t)), log))(t)
		t.Cleanup(whole.Close)
		part := must.Get(partial.New(t.Context(), whole, log))(t)
		t.Cleanup(part.Close)
		served := must.Get(private.Serve(part, log))(t)
		t.Cleanup(served.Close)
		test(t, upstream{served.URL(), part.HandOver})
	})
}
