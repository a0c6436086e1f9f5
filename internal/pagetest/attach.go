package pagetest

import (
	"log/slog"
	"testing"

	ownlaunch "browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/provider"
)

// Attached is the browser at a CDP address, as for `coordinator mcp --attach URL`.
func Attached(t testing.TB, url string) *ownlaunch.OnDemand {
	t.Helper()
	choice := provider.Choice{Attach: url}
	source, err := choice.Source(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	attached := ownlaunch.New(source)
	t.Cleanup(func() {
		if err := attached.End(); err != nil {
			t.Error(err)
		}
	})
	return attached
}
