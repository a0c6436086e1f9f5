package main

import (
	"os/exec"
	"regexp"

	"browser-coordinator/internal/bench/peer"
)

// contender is one of the compared servers.
type contender struct {
	name string
	// command starts it for the browser at an address, with that profile folder; nil means raw CDP.
	command func(cdp, profile string) *exec.Cmd
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
	return []contender{
		{"raw CDP", nil, toolNames{}, nil},
		ours("Browser Coordinator", func(cdp, _ string) *exec.Cmd { return programs.Ours("--attach", cdp) }),
		{peer.PlaywrightName, func(cdp, _ string) *exec.Cmd { return programs.Playwright("--cdp-endpoint", cdp) },
			playwrights, reference},
		devTools(peer.DevToolsName, func(cdp, _ string) *exec.Cmd { return programs.DevTools("--browserUrl", cdp) }),
	}
}

// inOwnBrowser are the servers that can use the browser in which their user works: directly, and
// as the user's own. Its debugging port stands for the question that the user answers in it.
func inOwnBrowser(programs peer.Programs) []contender {
	return []contender{
		ours("Browser Coordinator", func(cdp, _ string) *exec.Cmd { return programs.Ours("--attach", cdp) }),
		ours("own Chrome", func(_, profile string) *exec.Cmd {
			return programs.Ours("--attach", profile, "--access", "full")
		}),
		devTools(peer.DevToolsName, func(cdp, _ string) *exec.Cmd { return programs.DevTools("--browserUrl", cdp) }),
		devTools("its `--autoConnect`", func(_, profile string) *exec.Cmd {
			return programs.DevTools("--autoConnect", "--userDataDir", profile)
		}),
	}
}

var (
	playwrights = toolNames{
		navigate: "browser_navigate", snapshot: "browser_snapshot", click: "browser_click",
		evaluate: "browser_evaluate", screenshot: "browser_take_screenshot",
		clickArg: "target",
	}
	reference = regexp.MustCompile(`button "Add 200".*?\[ref=([a-z0-9]+)\]|"Add 200" \[ref=([a-z0-9]+)\]`)
)

func ours(name string, command func(cdp, profile string) *exec.Cmd) contender {
	return contender{name, command, playwrights, reference}
}

func devTools(name string, command func(cdp, profile string) *exec.Cmd) contender {
	return contender{name, command, toolNames{
		navigate: "navigate_page", snapshot: "take_snapshot", click: "click",
		evaluate: "evaluate_script", screenshot: "take_screenshot",
		always: map[string]any{"pageId": 1}, navigateArgs: map[string]any{"type": "url"}, clickArg: "uid",
	}, regexp.MustCompile(`uid=(\S+) button "Add 200"`)}
}
