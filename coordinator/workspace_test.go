package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/vscodeipc"
)

// A file in an open window's folder resolves to that window. So does a file that is a
// window's workspace, whatever its name is.
func TestFilesOfAnOpenWindow(t *testing.T) {
	dir := t.TempDir()
	for _, v := range privateDirs(dir) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	shop, err := vscodeipc.Canonical(folder(t, "shop"))
	if err != nil {
		t.Fatal(err)
	}
	file, odd := filepath.Join(shop, "src", "basket.js"), filepath.Join(filepath.Dir(shop), "odd.json")
	for _, f := range []string{file, odd} {
		if err := os.WriteFile(f, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	window, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{Workspace: odd, Folders: []string{shop}, Kind: "vscode", Name: "stand-in"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { window.Close(context.Background()) })
	for _, given := range []string{file, odd} {
		out, err := command(t.Context(), t, dir, "endpoint", "--json", "--workspace", given).Output()
		var answer endpointJSON
		if err == nil {
			err = json.Unmarshal(out, &answer)
		}
		if err != nil || answer.Workspace != odd {
			t.Errorf("--workspace %s means %q, %v; want %s", given, answer.Workspace, err, odd)
		}
	}
}
