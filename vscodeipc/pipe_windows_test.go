package vscodeipc

import (
	"context"
	"slices"
	"testing"
	"time"

	"browser-coordinator/internal/must"
)

func servePipe(t *testing.T, folder string) *Server {
	t.Helper()
	s, err := Serve(t.Context(), ServerOptions{Workspace: folder, Folders: []string{folder},
		Server: ServerInfo{Name: "test", Kind: "terminal"}, Commands: map[string]Handler{
			"echo": func(_ context.Context, c Call) (any, error) { return c.Arg, nil },
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// TestPipe finds a window in the pipe namespace, and connects to it.
func TestPipe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	folder := `c:\shop`
	s := servePipe(t, folder)
	if found := find(Hash(folder)); !slices.Contains(found, s.Address()) {
		t.Errorf("the addresses are %v, without %s", found, s.Address())
	}
	c := must.Get(dial(ctx, s.Address(), DialOptions{}))(t)
	defer c.close()
	if c.hello.Session != s.hello.Session {
		t.Errorf("another window answered: %+v", c.hello)
	}
	var back string
	if err := c.call(ctx, "echo", "hi", &back); err != nil || back != "hi" {
		t.Errorf("echo gives %q, %v", back, err)
	}
	if _, err := c.listen(ctx); err != nil {
		t.Fatal(err)
	}
	must.Do(t, s.SetState(State{Access: Access{Mode: AccessView}}))
	var state State
	if err := decodeStrict((<-c.events).payload, &state); err != nil || state.Access.Mode != AccessView {
		t.Errorf("the event is %+v, %v", state, err)
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	if c, err := dial(ctx, s.Address(), DialOptions{}); err == nil {
		c.close()
		t.Error("a pipe that is closed was dialed")
	}
}

// TestTwoPipes serves two windows on one folder: both live, with different names.
func TestTwoPipes(t *testing.T) {
	first, second := servePipe(t, `c:\shop`), servePipe(t, `c:\shop`)
	if first.Address() == second.Address() {
		t.Errorf("both windows have the pipe %s", first.Address())
	}
}
