package cdpproxy_test

import (
	"testing"

	"browser-coordinator/internal/cdptest"
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
		part, url := cdptest.ServeOwn(t, cdptest.BrowserURL(t))
		test(t, upstream{url, part.HandOver})
	})
}
