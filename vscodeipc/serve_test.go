//go:build unix

package vscodeipc_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
	"github.com/google/go-cmp/cmp"
)

// home gives the test its own home and data directory, with paths short enough for
// sockets, and a folder.
func home(t testing.TB) (folder string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	canonical, err := vscodeipc.Canonical(dir)
	if err != nil {
		t.Fatal(err)
	}
	return canonical
}

func serve(t testing.TB, o vscodeipc.ServerOptions) *vscodeipc.Server {
	t.Helper()
	o.Name, o.Kind = "test", "terminal"
	s, err := vscodeipc.Serve(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeServer(t, s) })
	return s
}

func closeServer(t testing.TB, s *vscodeipc.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func dial(t testing.TB, a vscodeipc.Address) *vscodeipc.Client {
	t.Helper()
	c, err := vscodeipc.Dial(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestOneWindowOneClient(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder}, Commands: map[string]vscodeipc.Handler{
		"echo": func(_ context.Context, c vscodeipc.Call) (any, error) { return c.Arg, nil },
	}})
	found := vscodeipc.Find(vscodeipc.Hash(folder))
	if diff := cmp.Diff([]vscodeipc.Address{s.Address()}, found); diff != "" {
		t.Fatalf("Find: %s", diff)
	}
	c := dial(t, found[0])
	if h := c.Hello(); h.Workspace == nil || *h.Workspace != folder || h.Session != s.Session() {
		t.Errorf("hello is %+v", h)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	var back map[string]int
	if err := c.Call(t.Context(), "echo", map[string]int{"a": 1}, &back); err != nil || back["a"] != 1 {
		t.Errorf("echo gives %v, %v", back, err)
	}

	first, events, err := c.Listen(t.Context(), nil)
	if err != nil || first.Seq != 0 || first.State == nil {
		t.Fatalf("Listen gives %+v, %v", first, err)
	}
	want := vscodeipc.State{
		DebugSessions: []vscodeipc.DebugSession{},
		Browser:       &vscodeipc.Browser{URL: "ws://127.0.0.1:1/x", Via: "launched"},
		Pages:         []vscodeipc.PageEndpoint{},
		Access:        vscodeipc.Access{Mode: vscodeipc.AccessAsk, Stopped: []string{}},
		Editor:        &vscodeipc.Editor{Path: folder + "/a.ts", Line: 1, Column: 2, EndLine: 3, EndColumn: 4, Dirty: true},
	}
	if err := s.SetState(want); err != nil {
		t.Fatal(err)
	}
	want.Revision = 1
	event := <-events
	var got vscodeipc.State
	if err := json.Unmarshal(event.Payload, &got); err != nil || event.Type != "state" || event.Seq != 1 {
		t.Fatalf("the event is %+v, %v", event, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	verdicts, err := vscodeipc.Probe(t.Context(), nil)
	if err != nil || len(verdicts) != 1 || verdicts[0].Verdict != vscodeipc.Live {
		t.Errorf("Probe gives %+v, %v", verdicts, err)
	}
	closeServer(t, s)
	<-c.Done()
	if diff := cmp.Diff([]vscodeipc.Address(nil), vscodeipc.Find(vscodeipc.Hash(folder))); diff != "" {
		t.Errorf("after Close: %s", diff)
	}
}
