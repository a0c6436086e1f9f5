package registry

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestWorktrees has real worktrees of one repository: each is a folder of its own,
// however git relates them.
func TestWorktrees(t *testing.T) {
	root := tree(t, "shop")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{
			"-C", filepath.Join(root, "shop"), "-c", "user.name=t", "-c", "user.email=t@localhost",
		}, args...)...)
		cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	beside, below := filepath.Join(root, "shop-fix"), filepath.Join(root, "shop", ".worktrees", "cart")
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("worktree", "add", "-q", beside, "-b", "fix")
	git("worktree", "add", "-q", below, "-b", "cart")

	shop := window("shop", filepath.Join(root, "shop"))
	for name, c := range map[string]struct {
		windows []Window
		dir     string
		chosen  string // "": an error
	}{
		"beside, with a window of its own":                 {[]Window{shop, window("fix", beside)}, beside, "fix"},
		"beside, without one: not the repository's":        {[]Window{shop}, beside, ""},
		"below, with a window of its own":                  {[]Window{shop, window("cart", below)}, below, "cart"},
		"below, without one: it is in the shop's folder":   {[]Window{shop}, below, "shop"},
		"the repository, while a worktree has a window":    {[]Window{shop, window("cart", below)}, filepath.Join(root, "shop"), "shop"},
		"the repository, of which only a worktree is open": {[]Window{window("fix", beside)}, filepath.Join(root, "shop"), ""},
	} {
		got, _, err := choose(c.windows, nil, Want{Dir: c.dir})
		var none *SelectionError
		if string(got.Address) != c.chosen || (c.chosen == "") != errors.As(err, &none) {
			t.Errorf("%s: chose %q, %v; want %q", name, got.Address, err, c.chosen)
		}
	}
}
