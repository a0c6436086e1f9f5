package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"browser-coordinator/vscodeipc"
)

// windowMain is a window of VS Code without VS Code, until its standard input ends. Its
// arguments are the folder, the version, and the title and address of a page.
func windowMain() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	w, err := vscodeipc.Serve(context.Background(), vscodeipc.ServerOptions{
		Workspace: os.Args[1], Folders: os.Args[1:2], Server: vscodeipc.ServerInfo{Name: "browser-coordinator",
			Version: os.Args[2], Kind: "vscode"},
	})
	fail(err)
	state := vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}
	if len(os.Args) > 4 {
		state.Pages = []vscodeipc.PageEndpoint{{Name: os.Args[3], URL: os.Args[4], DebugSession: "s"}}
		state.DebugSessions = []vscodeipc.DebugSession{{ID: "s", Type: "pwa-chrome", Name: os.Args[3]}}
	}
	fail(w.SetState(state))
	fmt.Println("open")
	io.Copy(io.Discard, os.Stdin)
	fail(w.Close(context.Background()))
}
