package registry

import (
	"context"
	"strings"
	"testing"

	"browser-coordinator/vscodeipc"
)

// What a client did is reported without what may have been typed.
func TestClients(t *testing.T) {
	folder, r := shop(t)
	serveCommands(t, folder, map[string]vscodeipc.Handler{
		vscodeipc.CommandClientList: func(context.Context, vscodeipc.Call) (any, error) {
			return vscodeipc.ListResult{
				Clients: []vscodeipc.ConnectedClient{
					{ID: "a", Name: "Agent", Kind: "mcp", Since: 1}, {ID: "c", Name: "Playwright", Kind: "cdp",
						Since: 2}, {ID: "n", Name: "New", Kind: "mcp", Since: 3},
				},
				Last: []vscodeipc.Activity{
					{Client: "a", Time: 4, Act: "browser_navigate",
						Target: "http://ada:hidden@shop.test/cart?hidden=1#hidden", URL: "data:text/html,hidden " +
							"too", OK: true},
					{Client: "c", Time: 5, Act: "Runtime.evaluate", Target: "field.value = 'hidden'",
						Outcome: "refused: not now"},
				},
			}, nil
		},
	})
	w, _, err := r.Resolve(t.Context(), Want{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := r.Clients(t.Context(), w)
	if err != nil || len(clients) != 3 || clients[2].Last != nil {
		t.Fatalf("%+v, %v", clients, err)
	}
	for i, want := range []string{"browser_navigate http://shop.test/cart data:…",
		"Runtime.evaluate: refused: not now "} {
		last := clients[i].Last
		if got := Describe(*last) + " " + last.URL; got != want || strings.Contains(got, "hidden") {
			t.Errorf("client %d did %q, want %q", i, got, want)
		}
	}
}
