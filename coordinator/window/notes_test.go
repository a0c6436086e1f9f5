package window

import (
	"context"
	"log/slog"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// The notes to an agent are forgotten when it leaves, also by the window's clients.
func TestNotesToAgentThatLeaves(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	folder := must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	w := &Window{log: slog.New(slog.DiscardHandler), notes: newNotes()}
	w.clients = newClients(func(map[string]bool) {}, w.forgetNotes)
	w.server = must.Get(vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: folder, Folders: []string{folder}, Server: vscodeipc.ServerInfo{Name: "test", Kind: "terminal"},
	}))(t)
	defer w.server.Close(context.Background())
	connection, leave := context.WithCancel(t.Context())
	defer leave()
	agents := call(t, vscodeipc.AnnounceArg{Clients: []vscodeipc.ConnectedClient{
		{ID: "a", Name: "Agent", Version: "1", Kind: "mcp", Since: 1},
		{ID: "b", Name: "Another", Version: "1", Kind: "mcp", Since: 1}}})
	agents.Connection = connection
	must.Get(w.clients.announce(t.Context(), agents))(t)
	waiting := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.state.Notes)
	}
	for _, id := range []string{"a", "b"} {
		must.Get(w.giveNote(t.Context(), call(t, vscodeipc.NoteGiveArg{Recipient: id})))(t)
	}
	if waiting() != 2 {
		t.Fatalf("notes for %d agents", waiting())
	}
	agents.Arg = call(t, vscodeipc.AnnounceArg{Clients: []vscodeipc.ConnectedClient{
		{ID: "b", Name: "Another", Version: "1", Kind: "mcp", Since: 1}}}).Arg
	must.Get(w.clients.announce(t.Context(), agents))(t)
	if waiting() != 1 || w.notes.take("a") != nil {
		t.Errorf("notes for %d agents", waiting())
	}
	leave()
	must.Await(t, "the other agent's are forgotten", func() bool { return waiting() == 0 })
}
