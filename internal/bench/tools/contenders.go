package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// contender is one of the compared servers.
type contender struct {
	name    string
	command func(cdp string) *exec.Cmd // nil means raw CDP
	tools   toolNames
	button  *regexp.Regexp // finds the button's ref in a snapshot
}

// toolNames are a server's names and arguments for the actions.
type toolNames struct {
	navigate, snapshot, click, evaluate, screenshot string
	always, navigateArgs                            map[string]any
	clickArg                                        string
}

func contenders(coordinator, peers, dir string) []contender {
	private := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Dir = dir
		cmd.Env = append(os.Environ(),
			"XDG_DATA_HOME="+filepath.Join(dir, "data"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
			"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
			"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1", "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS=1")
		return cmd
	}
	playwright := toolNames{
		navigate: "browser_navigate", snapshot: "browser_snapshot", click: "browser_click", evaluate: "browser_evaluate", screenshot: "browser_take_screenshot",
		clickArg: "target",
	}
	ref := regexp.MustCompile(`button "Add 200".*?\[ref=([a-z0-9]+)\]|"Add 200" \[ref=([a-z0-9]+)\]`)
	return []contender{
		{"raw CDP", nil, toolNames{}, nil},
		{"Browser Coordinator", func(cdp string) *exec.Cmd {
			return private(exec.Command(coordinator, "mcp", "--attach", cdp))
		}, playwright, ref},
		{"Playwright MCP 0.0.83", func(cdp string) *exec.Cmd {
			return private(exec.Command("node", filepath.Join(peers, "node_modules/@playwright/mcp/cli.js"), "--cdp-endpoint", cdp))
		}, playwright, ref},
		{"chrome-devtools-mcp 1.11", func(cdp string) *exec.Cmd {
			return private(exec.Command("node", filepath.Join(peers, "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"), "--browserUrl", cdp, "--no-usage-statistics", "--no-performance-crux"))
		}, toolNames{
			navigate: "navigate_page", snapshot: "take_snapshot", click: "click", evaluate: "evaluate_script", screenshot: "take_screenshot",
			always: map[string]any{"pageId": 1}, navigateArgs: map[string]any{"type": "url"}, clickArg: "uid",
		}, regexp.MustCompile(`uid=(\S+) button "Add 200"`)},
	}
}
