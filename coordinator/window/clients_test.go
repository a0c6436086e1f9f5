package window

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// serve serves a window with these commands.
func serve(t *testing.T, commands map[string]vscodeipc.Handler) *vscodeipc.Server {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	folder := must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	server := must.Get(vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{Workspace: folder,
		Folders: []string{folder}, Server: vscodeipc.ServerInfo{Name: "test", Kind: "terminal"}, Commands: commands}))(t)
	t.Cleanup(func() { must.Do(t, server.Close(context.Background())) })
	return server
}

// The window lists what connections have announced, as long as they last. What the user has allowed
// them ends then too.
func TestClients(t *testing.T) {
	allowed := newQuestions(nil, vscodeipc.Access{Mode: vscodeipc.AccessAsk})
	server := serve(t, newClients(allowed.keepOnly).commands())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	one := vscodeipc.Watch(server.Address(), vscodeipc.DialOptions{})
	defer one.Close()
	other := vscodeipc.Watch(server.Address(), vscodeipc.DialOptions{})
	defer other.Close()
	call := func(w *vscodeipc.Watcher, command string, arg, result any) {
		t.Helper()
		must.Do(t, w.Call(ctx, command, arg, result))
	}
	list := func() (l vscodeipc.ListResult) {
		t.Helper()
		call(one, vscodeipc.CommandClientList, nil, &l)
		return l
	}
	a := vscodeipc.ConnectedClient{ID: "a", Name: "Agent", Version: "1", Kind: "mcp", Since: 1, Page: "P"}
	b := vscodeipc.ConnectedClient{ID: "b", Name: "Playwright", Version: "2", Kind: "cdp", Since: 2}
	click := vscodeipc.Activity{Client: "a", Time: 3, Act: "browser_click", Target: "button", Outcome: "done", OK: true}
	call(one, vscodeipc.CommandClientAnnounce, vscodeipc.AnnounceArg{Clients: []vscodeipc.ConnectedClient{a}}, nil)
	call(other, vscodeipc.CommandClientAnnounce, vscodeipc.AnnounceArg{Clients: []vscodeipc.ConnectedClient{b}}, nil)
	call(other, vscodeipc.CommandClientReport, vscodeipc.ReportArg{Entries: []vscodeipc.Activity{{Client: "a",
		Act: "browser_type"}, click, {Client: "x"}}}, nil)
	want := vscodeipc.ListResult{Clients: []vscodeipc.ConnectedClient{b, a}, Last: []vscodeipc.Activity{click}}
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}

	many := make([]vscodeipc.ConnectedClient, maxAnnounced+1)
	err := one.Call(ctx, vscodeipc.CommandClientAnnounce, vscodeipc.AnnounceArg{Clients: many}, nil)
	if err == nil || !strings.Contains(err.Error(), vscodeipc.CodeBadPayload) {
		t.Errorf("too many clients: %v", err)
	}
	ofA := grant{vscodeipc.ClientInfo{ID: "a"}, "http://shop.test"}
	ofB := grant{vscodeipc.ClientInfo{ID: "b"}, "http://shop.test"}
	isAllowed := func(g grant) bool {
		allowed.mu.Lock()
		defer allowed.mu.Unlock()
		return allowed.granted[g]
	}
	allowed.mu.Lock()
	allowed.granted[ofA], allowed.granted[ofB] = true, true
	allowed.mu.Unlock()
	other.Close()
	for len(list().Clients) != 1 { // the window learns of the end a moment later
		if ctx.Err() != nil {
			t.Fatalf("still %+v", list())
		}
	}
	if !isAllowed(ofA) || isAllowed(ofB) {
		t.Errorf("allowed: %v to one that is here, %v to one that has left", isAllowed(ofA), isAllowed(ofB))
	}
	call(one, vscodeipc.CommandClientAnnounce, vscodeipc.AnnounceArg{Clients: []vscodeipc.ConnectedClient{}}, nil)
	if diff := cmp.Diff(vscodeipc.ListResult{Clients: []vscodeipc.ConnectedClient{}, Last: []vscodeipc.Activity{}},
		list()); diff != "" {
		t.Error(diff)
	}
}
