package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// tree creates the folders below a canonical temporary directory.
func tree(t *testing.T, folders ...string) string {
	t.Helper()
	root := must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	for _, f := range folders {
		must.Do(t, os.MkdirAll(filepath.Join(root, f), 0o755))
	}
	return root
}

func window(address, workspace string, folders ...string) Window {
	if folders == nil && workspace != "" {
		folders = []string{workspace}
	}
	return Window{Address: vscodeipc.Address(address), Hello: vscodeipc.Hello{Workspace: workspace, Folders: folders,
		Server: vscodeipc.ServerInfo{Kind: "vscode"}}}
}

func TestResolve(t *testing.T) {
	root := tree(t, "shop/web/src", "shop-old", "api", "elsewhere")
	at := func(p string) string { return filepath.Join(root, p) }
	must.Do(t, os.Symlink(at("shop/web"), at("link")))
	workspaceFile := at("all.code-workspace")
	must.Do(t, os.WriteFile(workspaceFile, []byte("{}"), 0o644))
	shop := window("shop", at("shop"))
	web := window("web", at("shop/web"))
	both := window("both", workspaceFile, at("shop"), at("api"))
	twin := window("twin", at("shop"))
	empty := window("empty", "")

	for _, c := range []struct {
		name      string
		windows   []Window
		want      Want
		chosen    string // "": an error
		ambiguous bool
	}{
		{"the working directory itself", []Window{shop, web}, Want{Dir: at("shop")}, "shop", false},
		{"a sub-folder of it", []Window{shop}, Want{Dir: at("shop/web/src")}, "shop", false},
		{"the deepest folder wins", []Window{shop, web}, Want{Dir: at("shop/web/src")}, "web", false},
		{"the order does not matter", []Window{web, shop}, Want{Dir: at("shop/web/src")}, "web", false},
		{"through a symbolic link", []Window{shop, web}, Want{Dir: at("link/src")}, "web", false},
		{"a name that only begins alike", []Window{shop}, Want{Dir: at("shop-old")}, "", false},
		{"a folder that contains the workspace", []Window{web}, Want{Dir: at("shop")}, "", false},
		{"a folder of a workspace file", []Window{both, empty}, Want{Dir: at("api")}, "both", false},
		{"the workspace itself before one that has it among others", []Window{both, shop}, Want{Dir: at("shop")},
			"shop", false},
		{"two windows on one folder", []Window{shop, twin}, Want{Dir: at("shop")}, "", true},
		{"two windows, one named by address", []Window{shop, twin}, Want{Explicit: "twin", Dir: at("shop")}, "twin",
			false},
		{"by hash", []Window{shop, web}, Want{Explicit: web.Hash()}, "web", false},
		{"by path, against the working directory", []Window{shop, both}, Want{Explicit: at("api"), Dir: at("shop")},
			"both", false},
		{"by the workspace file", []Window{shop, both}, Want{Explicit: workspaceFile}, "both", false},
		{"by the name of the folder", []Window{shop, web}, Want{Explicit: "web"}, "web", false},
		{"an explicit choice that fits nothing is not replaced", []Window{shop},
			Want{Explicit: at("elsewhere"), Dir: at("shop")}, "", false},
		{"roots before the working directory", []Window{shop, both},
			Want{Roots: []string{at("api")}, Dir: at("shop")}, "both", false},
		{"roots that fit nothing leave the working directory", []Window{shop},
			Want{Roots: []string{at("elsewhere")}, Dir: at("shop")}, "shop", false},
		{"roots in two windows", []Window{shop, window("api", at("api"))},
			Want{Roots: []string{at("api"), at("shop")}}, "", true},
		{"a root that is not made yet", []Window{shop}, Want{Roots: []string{at("shop/new/deep")}}, "shop", false},
		{"no folder selects a window without a folder", []Window{empty}, Want{Dir: at("shop")}, "", false},
		{"a window without a folder, by address", []Window{shop, empty}, Want{Explicit: "empty"}, "empty", false},
		{"a window without a folder, by hash", []Window{shop, empty}, Want{Explicit: empty.Hash()}, "empty", false},
		{"a window without a folder is not the working directory", []Window{empty}, Want{Explicit: "."}, "", false},
		{"a window without a folder has no name", []Window{empty}, Want{Explicit: empty.Title()}, "", false},
		{"no window", nil, Want{Dir: at("shop")}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, candidates, err := choose(c.windows, nil, c.want)
			if len(candidates) != len(c.windows) {
				t.Errorf("%d candidates of %d windows", len(candidates), len(c.windows))
			}
			for _, candidate := range candidates {
				if candidate.Reason == "" {
					t.Errorf("%s: no reason", candidate.Window.Address)
				}
			}
			if c.chosen != "" {
				if err != nil || string(got.Address) != c.chosen {
					t.Fatalf("chose %q, %v; want %q", got.Address, err, c.chosen)
				}
				return
			}
			var none *SelectionError
			if !errors.As(err, &none) {
				t.Fatalf("chose %q, %v; want a SelectionError", got.Address, err)
			}
			if none.Ambiguous != c.ambiguous {
				t.Errorf("ambiguous %v, want %v", none.Ambiguous, c.ambiguous)
			}
			for _, w := range c.windows {
				if !strings.Contains(none.Error(), w.Label()) {
					t.Errorf("the error does not list %s:\n%v", w.Label(), none)
				}
			}
		})
	}
}

// TestReasons: an error of the selection has the reason for each window.
func TestReasons(t *testing.T) {
	root := tree(t, "shop", "api", "elsewhere")
	at := func(p string) string { return filepath.Join(root, p) }
	shop, twin, api, empty := window("1", at("shop")), window("2", at("shop")), window("3", at("api")), window("4", "")
	hangs := []Unreachable{{Address: "5", Reason: "it took the connection but did not answer in time"}}
	for _, c := range []struct {
		name    string
		windows []Window
		want    Want
		message string
	}{
		{"none fits", []Window{shop, empty}, Want{Dir: at("elsewhere")}, `no window fits the working directory ROOT/elsewhere
- ROOT/shop: none of its folders contains it
- a window without a folder (pid 0): it has no folder open
- 5: it took the connection but did not answer in time
Open the folder in VS Code, or name the folder of one of these windows.`},
		{"several fit", []Window{shop, twin, api}, Want{Dir: at("shop")}, `several windows fit the working directory ROOT/shop
- ROOT/shop at 1: it fits as well as another
- ROOT/shop at 2: it fits as well as another
- ROOT/api: another window fits better
- 5: it took the connection but did not answer in time
Select one of them: give its folder, or its address where two share a folder.`},
		{"none is open", nil, Want{Roots: []string{at("api")}, Dir: at("shop")},
			"no window is open (looked for the host's roots ROOT/api or the working directory ROOT/shop)\n" +
				"- 5: it took the connection but did not answer in time\n" +
				"Open the folder in VS Code with the Browser Coordinator extension, or run " +
				"`coordinator window --workspace DIR`."},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := choose(c.windows, hangs, c.want)
			if err == nil {
				t.Fatal("a window was chosen")
			}
			if diff := cmp.Diff(c.message, strings.ReplaceAll(err.Error(), root, "ROOT")); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, candidates, err := choose([]Window{shop, api}, hangs, Want{Dir: at("api")})
	if err != nil || candidates[1].Reason != "chosen for the working directory "+at("api") {
		t.Errorf("chosen: %+v, %v", candidates, err)
	}
}
