package guard

import (
	"strings"
	"testing"
)

// FuzzHost: no admitted Host has a registered domain.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost", "127.0.0.1:1", "[::1]:80", "a.localhost", "localhost.evil", "127.0.0.1:",
		"evil:80.localhost", "[::1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !isLoopback(host) {
			return
		}
		name := strings.ToLower(strings.TrimRight(host, "0123456789:"))
		if !strings.HasSuffix(name, "localhost") && name != "127.0.0." && name != "[::1]" &&
			!strings.HasPrefix(host, "127.0.0.1:") {
			t.Errorf("%q admitted", host)
		}
	})
}
