package registry

import (
	"context"
	"errors"
	"strings"
	"testing"

	"browser-coordinator/vscodeipc"
)

// What a client did is reported without what may have been typed.
func TestClients(t *testing.T) {
	folder, r := shop(t)
	serveWindow(t, vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder}, Kind: "vscode", Commands: map[string]vscodeipc.Handler{
		vscodeipc.CommandClientList: func(context.Context, vscodeipc.Call) (any, error) {
			return vscodeipc.ListResult{
				Clients: []vscodeipc.ConnectedClient{
					{ID: "a", Name: "Agent", Kind: "mcp", Since: 1}, {ID: "c", Name: "Playwright", Kind: "cdp", Since: 2}, {ID: "n", Name: "New", Kind: "mcp", Since: 3},
				},
				Last: []vscodeipc.Activity{
					{Client: "a", Time: 4, Act: "browser_navigate", Target: "http://ada:hidden@shop.test/cart?hidden=1#hidden", URL: "data:text/html,hidden too", OK: true},
					{Client: "c", Time: 5, Act: "Runtime.evaluate", Target: "field.value = 'hidden'", Outcome: "refused: not now"},
				},
			}, nil
		},
	}})
	w, _, err := r.Resolve(t.Context(), Want{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := r.Clients(t.Context(), w)
	if err != nil || len(clients) != 3 || clients[2].Last != nil {
		t.Fatalf("%+v, %v", clients, err)
	}
	for i, want := range []string{"browser_navigate http://shop.test/cart data:…", "Runtime.evaluate: refused: not now "} {
		last := clients[i].Last
		if got := Describe(*last) + " " + last.URL; got != want || strings.Contains(got, "hidden") {
			t.Errorf("client %d did %q, want %q", i, got, want)
		}
	}
}

// A window of an older version does not report its clients.
func TestClientsOfOlderWindow(t *testing.T) {
	folder, r := shop(t)
	serveWindow(t, vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder}, Kind: "vscode"})
	w, _, err := r.Resolve(t.Context(), Want{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Clients(t.Context(), w); !errors.As(err, new(*NotOfferedError)) {
		t.Errorf("%v", err)
	}
}

// Watch shows the windows at once, and each change.
func TestWatch(t *testing.T) {
	folder, r := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown := make(chan int, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- r.Watch(ctx, 0, func(l Listing) error { shown <- len(l.Windows); return nil })
	}()
	await := func(want int) {
		t.Helper()
		for got := range shown {
			if got == want {
				return
			}
		}
	}
	await(0)
	w := serveWindow(t, vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder}, Kind: "vscode"})
	await(1)
	w.Close(t.Context())
	await(0)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	full := errors.New("full")
	if err := r.Watch(t.Context(), 0, func(Listing) error { return full }); err != full {
		t.Errorf("an error of show: %v", err)
	}
}
