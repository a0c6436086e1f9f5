package main

import (
	"os/exec"
	"regexp"

	"browser-coordinator/internal/bench/peer"
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

func contenders(programs peer.Programs) []contender {
	playwright := toolNames{
		navigate: "browser_navigate", snapshot: "browser_snapshot", click: "browser_click", evaluate: "browser_evaluate", screenshot: "browser_take_screenshot",
		clickArg: "target",
	}
	ref := regexp.MustCompile(`button "Add 200".*?\[ref=([a-z0-9]+)\]|"Add 200" \[ref=([a-z0-9]+)\]`)
	return []contender{
		{"raw CDP", nil, toolNames{}, nil},
		{"Browser Coordinator", func(cdp string) *exec.Cmd { return programs.Ours("--attach", cdp) }, playwright, ref},
		{peer.PlaywrightName, func(cdp string) *exec.Cmd { return programs.Playwright("--cdp-endpoint", cdp) }, playwright, ref},
		{peer.DevToolsName, func(cdp string) *exec.Cmd { return programs.DevTools("--browserUrl", cdp) }, toolNames{
			navigate: "navigate_page", snapshot: "take_snapshot", click: "click", evaluate: "evaluate_script", screenshot: "take_screenshot",
			always: map[string]any{"pageId": 1}, navigateArgs: map[string]any{"type": "url"}, clickArg: "uid",
		}, regexp.MustCompile(`uid=(\S+) button "Add 200"`)},
	}
}
