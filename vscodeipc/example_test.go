package vscodeipc_test

import (
	"context"
	"fmt"
	"os"

	"browser-coordinator/vscodeipc"
)

// One program is a window, and another one follows its state.
func Example() {
	home, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	defer os.Setenv("XDG_DATA_HOME", os.Getenv("XDG_DATA_HOME"))
	os.Setenv("XDG_DATA_HOME", home) // where the windows' sockets are

	ctx := context.Background()
	window, err := vscodeipc.Serve(ctx, vscodeipc.ServerOptions{
		Server:    vscodeipc.ServerInfo{Name: "example", Kind: "terminal"},
		Workspace: "/work/shop",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer window.Close(ctx)

	addresses, err := vscodeipc.List()
	if err != nil {
		fmt.Println(err)
		return
	}
	watcher := vscodeipc.Watch(addresses[0], vscodeipc.DialOptions{})
	defer watcher.Close()
	window.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessAsk}})
	for {
		now, changed := watcher.Snapshot()
		if now.State.Access.Mode == vscodeipc.AccessAsk {
			fmt.Println(now.Workspace, now.State.Access.Mode)
			break
		}
		<-changed // it survives the window's reloads
	}
	// Output: /work/shop ask
}
