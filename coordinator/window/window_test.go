package window

import (
	"context"
	"sync"
	"testing"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// unopened is a browser that is never opened: these tests are about the window's state.
type unopened struct{ launch.Source }

func (unopened) Kind() launch.Kind { return launch.Launched }

// A client's call may come as soon as the server accepts clients, before Serve has stored it.
func TestChangeWhileServerStarts(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	folder := must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	asked := newQuestions(nil, vscodeipc.Access{Mode: vscodeipc.AccessFull})
	w := &Window{browser: launch.New(unopened{}), url: "ws://127.0.0.1:1/", notes: newNotes(), questions: asked}
	w.clients = newClients(asked.keepOnly)
	change := func(mode vscodeipc.AccessMode) {
		must.Get(w.changeAccess(t.Context(), vscodeipc.AccessChangeArg{Mode: mode}))(t)
	}
	change(vscodeipc.AccessAsk)
	var changing sync.WaitGroup
	changing.Go(func() { change(vscodeipc.AccessView) })
	must.Do(t, w.Serve(t.Context(), &Options{Workspace: folder}))
	t.Cleanup(func() { must.Do(t, w.server.Close(context.Background())) })
	changing.Wait()

	client := vscodeipc.Watch(w.server.Address(), vscodeipc.DialOptions{})
	defer client.Close()
	must.Await(t, "the change is reported", func() bool {
		now, _ := client.Snapshot()
		return now.State.Browser != nil && now.State.Access.Mode == vscodeipc.AccessView
	})
}
