package peer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// The names of the peers, with the versions that Programs.Peers pins.
const (
	PlaywrightName = "Playwright MCP 0.0.83"
	DevToolsName   = "chrome-devtools-mcp 1.11"

	PlaywrightCLIName = "playwright-cli 0.1.22"
	AgentBrowserName  = "agent-browser 0.41.2"
)

// Programs are where the servers are, and the folder that they work in.
type Programs struct {
	Coordinator string // the binary
	Peers       string // the folder in which npm ci has installed the peers
	Dir         string

	// What the peers' command lines launch.
	Browser     string
	BrowserArgs []string
}

// Ours is the command of the coordinator's server.
func (p Programs) Ours(args ...string) *exec.Cmd {
	return p.command(p.Coordinator, append([]string{"mcp"}, args...))
}

// Shell is a command line in a shell that finds the coordinator and the peers' commands. Each
// has its own files below Dir.
func (p Programs) Shell(ctx context.Context, line string) *exec.Cmd {
	of := p.command("sh", []string{"-c", line})
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.WaitDelay = 5 * time.Second // what the shell started may keep the output open
	cmd.Dir = of.Dir
	path := []string{
		filepath.Dir(p.Coordinator), filepath.Join(p.Dir, "bin"),
		filepath.Join(p.Peers, "node_modules/.bin"), os.Getenv("PATH"),
	}
	cmd.Env = append(of.Env, "PATH="+strings.Join(path, string(os.PathListSeparator)))
	if p.Browser == "" {
		return cmd
	}
	chromeArgs := ""
	for _, a := range p.BrowserArgs {
		chromeArgs += " --chromeArg=" + a
	}
	cmd.Env = append(cmd.Env, "HOME="+p.Dir, "XDG_RUNTIME_DIR="+p.Dir, "BROWSER="+p.Browser, "DEVTOOLS_ARGS="+chromeArgs,
		"PLAYWRIGHT_MCP_EXECUTABLE_PATH="+p.Browser, "PLAYWRIGHT_MCP_VIEWPORT_SIZE=1280x800",
		fmt.Sprint("PLAYWRIGHT_MCP_SANDBOX=", len(p.BrowserArgs) == 0),
		"AGENT_BROWSER_EXECUTABLE_PATH="+p.Browser, "AGENT_BROWSER_ARGS="+strings.Join(p.BrowserArgs, "\n"))
	return cmd
}

// LinkAgentBrowser makes agent-browser a native command, as its global installation does.
func (p Programs) LinkAgentBrowser() error {
	system := strings.NewReplacer("windows", "win32", "amd64", "x64").Replace(runtime.GOOS + "-" + runtime.GOARCH)
	binary := filepath.Join(p.Peers, "node_modules/agent-browser/bin/agent-browser-"+system)
	if err := os.Chmod(binary, 0o755); err != nil { // npm keeps no modes
		return err
	}
	if err := os.Mkdir(filepath.Join(p.Dir, "bin"), 0o700); err != nil {
		return err
	}
	return os.Symlink(binary, filepath.Join(p.Dir, "bin/agent-browser"))
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
