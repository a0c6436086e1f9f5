package main

import (
	"regexp"
	"strings"
)

// peerShell is the command line of a peer. It plays what servers of a kind play. A line of its
// shell has all commands up to the first answer that the agent needs.
type peerShell struct {
	kind    string // whose tools the play-throughs name
	program string
	start   string            // a line that opens the browser, which peer.Programs describes in the environment
	stop    string            // a command
	skill   string            // the skill's file, which the agent's host reads, in the folder of the peers
	learn   string            // a line that prints the skill, if its file only says so
	tools   map[string]string // the commands of each tool, see field
	// line makes a line of commands.
	line func(program string, commands []string) string
}

// The command lines.
const (
	shell         = "shell" // the coordinator's
	playwrightCLI = "playwright-cli"
	agentBrowser  = "agent-browser"
	devtoolsCLI   = "chrome-devtools"
)

var peerShells = map[string]peerShell{
	playwrightCLI: {
		kind: playwright, program: "playwright-cli", start: "playwright-cli open about:blank", stop: "close",
		skill: "node_modules/@playwright/cli/skills/playwright-cli/SKILL.md",
		tools: map[string]string{
			"browser_navigate": "goto {url}", "browser_snapshot": "snapshot", "browser_press_key": "press {key}",
			"browser_click": "?doubleClick:dblclick !doubleClick:click {target}",
			"browser_type":  "!slowly:fill !slowly:{target} ?slowly:type {text} ?submit:--submit",
			"browser_drag":  "drag {startTarget} {endTarget}", "browser_evaluate": "eval {function} {target}",
			"browser_find": "find {text} --regex={regex}", "browser_wait_for": "run-code {function}",
			"browser_file_upload": "upload {paths}", "browser_handle_dialog": "dialog-accept {promptText}",
			"browser_tabs": "tab-select {index}", "browser_take_screenshot": "screenshot {target}",
			"browser_console_messages": "console {level}", "browser_network_requests": "requests",
			"browser_network_request": "response-body {index}",
			"textbox":                 "fill {target} {value}", "combobox": "select {target} {value}",
			"radio": "check {target}", "checkbox": "check {target}",
		},
		// Only of the last action the agent wants to read more than the result.
		line: func(program string, commands []string) string {
			for i := range commands {
				if i < len(commands)-1 || !regexp.MustCompile(`^(?:click|dblclick|dialog|upload)`).MatchString(commands[i]) {
					commands[i] = "--raw " + commands[i]
				}
			}
			return chain(program, commands)
		},
	},
	agentBrowser: {
		kind: agentBrowser, program: "agent-browser", stop: "close",
		start: "agent-browser open about:blank && agent-browser set viewport 1280 800",
		skill: "node_modules/agent-browser/skills/agent-browser/SKILL.md", learn: "agent-browser skills get core",
		tools: map[string]string{
			"browser_navigate": "open {url}", "browser_snapshot": "snapshot -i", "page text": "snapshot -c",
			"browser_press_key": "press {key}",
			"browser_click":     "?doubleClick:dblclick !doubleClick:click @{target}",
			"browser_type": "?slowly:keyboard ?slowly:type !slowly:fill !slowly:@{target} {text}" +
				" ; ?submit:press ?submit:Enter",
			"browser_drag": "drag @{startTarget} @{endTarget}", "browser_evaluate": "eval {function}",
			"browser_wait_for": "wait --text {text}", "browser_file_upload": "upload @{target} {paths}",
			"browser_handle_dialog": "dialog accept {promptText}", "browser_tabs": "tab {index}",
			"browser_take_screenshot":  "screenshot @{target}",
			"browser_console_messages": "errors", "browser_network_requests": "network requests --filter={filter}",
			"browser_network_request": "network request {index}", "download": "download @{target} {path}",
			"click at": "mouse move {x} {y} ; mouse down ; mouse up",
			"textbox":  "fill @{target} {value}", "combobox": "select @{target} {value}",
			"radio": "check @{target}", "checkbox": "check @{target}",
		},
		line: chain,
	},
	devtoolsCLI: {
		kind: devtools, program: "chrome-devtools", stop: "stop",
		start: "chrome-devtools start --executablePath $BROWSER $DEVTOOLS_ARGS --no-usage-statistics " +
			"--no-performance-crux && " +
			"chrome-devtools navigate_page 1 --url about:blank && chrome-devtools resize_page 1 1280 800",
		skill: "node_modules/chrome-devtools-mcp/skills/chrome-devtools-cli/SKILL.md",
		tools: map[string]string{
			"navigate_page": "navigate_page {pageId} --url={url}", "take_snapshot": "take_snapshot {pageId}",
			"press_key": "press_key {pageId} {key}",
			"click":     "click {pageId} {uid}", "drag": "drag {pageId} {from_uid} {to_uid}",
			"fill":            "fill {pageId} {uid} {value}",
			"type_text":       "type_text {pageId} {text} --submitKey={submitKey}",
			"evaluate_script": "evaluate_script {function} --pageId={pageId} --args={args}",
			"upload_file":     "upload_file {pageId} {uid} {filePaths}",
			"handle_dialog":   "handle_dialog {pageId} {action} --promptText={promptText}", "list_pages": "list_pages",
			"take_screenshot":       "take_screenshot {pageId} --uid={uid}",
			"wait_for":              "evaluate_script {function} --pageId={pageId}",
			"list_console_messages": "list_console_messages {pageId} --types={types}",
			"get_console_message":   "get_console_message {pageId} {msgid}",
			"list_network_requests": "list_network_requests {pageId} --resourceTypes={resourceTypes}",
			"get_network_request":   "get_network_request {pageId} --reqid={reqid}",
			"textbox":               "fill {pageId} {uid} {value}", "combobox": "fill {pageId} {uid} {value}",
			"radio": "click {pageId} {uid}", "checkbox": "click {pageId} {uid}",
		},
		// An action can print the snapshot itself.
		line: func(program string, commands []string) string {
			shows := regexp.MustCompile(`^(?:click|drag|fill|press_key|upload_file) `)
			if n := len(commands); n > 1 && commands[n-1] == "take_snapshot 1" && shows.MatchString(commands[n-2]) {
				commands[n-2] += " --includeSnapshot true"
				commands = commands[:n-1]
			}
			return chain(program, commands)
		},
	},
}

func chain(program string, commands []string) string {
	return program + " " + strings.Join(commands, " && "+program+" ")
}

// field is a part of a command in peerShell.tools: {name} is the value of an argument, "--flag={name}"
// the flag with it; both are left out with the argument. ?name:word is the word if the argument is
// true, !name:word if it is not.
var field = regexp.MustCompile(`^(--\w+=|@)?\{(\w+)\}$`)

// commands are the commands of a call.
func (s peerShell) commands(p *player, tool string, a args) (commands []string) {
	template, known := s.tools[tool]
	if !known {
		p.stuck("%s has no command for %s", s.program, tool)
	}
	for _, command := range strings.Split(template, " ; ") {
		var words []string
		for _, w := range strings.Fields(command) {
			if name, rest, conditional := strings.Cut(w[1:], ":"); conditional && strings.ContainsRune("?!", rune(w[0])) {
				if (a[name] == true) != (w[0] == '?') {
					continue
				}
				w = rest
			}
			found := field.FindStringSubmatch(w)
			if found == nil {
				words = append(words, w)
				continue
			}
			value, given := a[found[2]]
			if !given {
				continue
			}
			for _, v := range word(value, "'") {
				switch found[1] {
				case "", "@":
					words = append(words, found[1]+v)
				default:
					words = append(words, strings.TrimSuffix(found[1], "="), v)
				}
			}
		}
		if len(words) > 0 {
			commands = append(commands, strings.Join(words, " "))
		}
	}
	return commands
}
