package peer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// The names of the peers, with the versions that Programs.Peers pins.
const (
	PlaywrightName = "Playwright MCP 0.0.83"
	DevToolsName   = "chrome-devtools-mcp 1.11"
)

// Programs are where the servers are, and the folder that they work in.
type Programs struct {
	Coordinator string // the binary
	Peers       string // the folder in which npm ci has installed the peers
	Dir         string
}

// Ours is the command of the coordinator's server.
func (p Programs) Ours(args ...string) *exec.Cmd {
	return p.command(p.Coordinator, append([]string{"mcp"}, args...))
}

// Shell is a command line in a shell that finds the coordinator.
func (p Programs) Shell(ctx context.Context, line string) *exec.Cmd {
	of := p.command("sh", []string{"-c", line})
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = of.Dir
	cmd.Env = append(of.Env, "PATH="+filepath.Dir(p.Coordinator)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}

// Playwright is the command of Playwright MCP.
func (p Programs) Playwright(args ...string) *exec.Cmd {
	return p.command("node", append([]string{filepath.Join(p.Peers, "node_modules/@playwright/mcp/cli.js")}, args...))
}

// DevTools is the command of chrome-devtools-mcp.
func (p Programs) DevTools(args ...string) *exec.Cmd {
	script := filepath.Join(p.Peers, "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js")
	return p.command("node", append([]string{script, "--no-usage-statistics", "--no-performance-crux"}, args...))
}

func (p Programs) command(name string, args []string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(),
		"XDG_DATA_HOME="+filepath.Join(p.Dir, "data"), "XDG_STATE_HOME="+filepath.Join(p.Dir, "state"),
		"XDG_CACHE_HOME="+filepath.Join(p.Dir, "cache"), "XDG_CONFIG_HOME="+filepath.Join(p.Dir, "config"),
		"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1", "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS=1")
	return cmd
}
