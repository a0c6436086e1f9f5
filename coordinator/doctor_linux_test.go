package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"browser-coordinator/coordinator/doctor"
)

// patient is a machine that the doctor examines.
// newPatient is healthy: the coordinator is on PATH, and there is a browser.
// command is a coordinator on the machine.
// window opens a window of VS Code until the test ends.
// serve makes an address for the workspace, and returns its port.
// deadSocket leaves a socket without a window, as a killed one does.
// examine runs the doctor. Its exit code must fit to what it reports.
// findings are those of a check.
// TestDoctorOfAHealthyMachine: there is no problem, and nothing is made.
func TestDoctorOfAHealthyMachine(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.window("0.1.0", nil)
	p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["mcp", "--output-dir", "`+p.path("files")+`"]`)
	port := p.serve()
	for _, c := range p.examine().Checks {
		for _, f := range c.Findings {
			hasOthers := c.ID == "sandbox" // what the machine of the test has
			if f.Verdict != doctor.OK && !hasOthers {
				t.Errorf("%s: %+v", c.ID, f)
			}
		}
	}
	text, _ := p.command("doctor").Output()
	for _, want := range []string{p.folder + " is open (browser-coordinator 0.1.0, pid ",
		"An agent in " + p.folder + " gets the window " + p.folder + ".",
		p.folder + " has port " + port + ", and no coordinator serves it now.",
		"Cursor starts " + strings.TrimPrefix(p.env[2], "PATH=") + "/coordinator, version 0.1.0"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}

	untouched := newPatient(t)
	untouched.examine()
	made := []string{p.path("files")}
	for _, name := range []string{"data", "state", "cache", "config"} {
		made = append(made, untouched.path(name))
	}
	for _, folder := range made {
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("the doctor makes %s", folder)
		}
	}
}

// TestDoctor examines broken machines. Where --fix solves the problem, the second
// examination finds none.
func TestDoctor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		breakIt func(*patient)
		check   string
		verdict doctor.Verdict
		text    string // in which DIR is the folder with all files
		fix     string
		fixed   string // by --fix; empty: nothing is done about it
	}{
		{
			"the program is not on PATH", func(p *patient) { p.env = append(p.env, "PATH="+p.make("empty", 0o700)) },
			"path", doctor.Warning, "not on PATH", `export PATH=`, "",
		}, {
			"another program is on PATH", func(p *patient) {
				p.program("first/coordinator")
				p.env = append(p.env, "PATH="+p.path("first"))
			},
			"path", doctor.Problem, "starts DIR/first/coordinator, which does not report its version: it is another " +
				"program.", `export PATH=`, "",
		}, {
			"the extension has another version", func(p *patient) { p.window("9.8.7", nil) },
			"version", doctor.Warning, "The window DIR/shop has version 9.8.7, this program 0.1.0",
			"update the extension", "",
		}, {
			"an entry names a program that is gone", func(p *patient) {
				p.entry("shop/.mcp.json", `"command": "/gone/coordinator"`)
			},
			"hosts", doctor.Problem, "Claude Code: the entry browser-coordinator in DIR/shop/.mcp.json starts " +
				"/gone/coordinator, and there is no such program.", "coordinator setup claude-code --project", "",
		}, {
			"an entry of a workspace file's folder names a program that is gone", func(p *patient) {
				p.entry("shop/.mcp.json", `"command": "/gone/coordinator"`)
				p.env = append(p.env, "BROWSER_COORDINATOR_WORKSPACE="+p.write("shop/all.code-workspace", "{}", 0o644))
				p.folder = p.make("other", 0o755)
			},
			"hosts", doctor.Problem, "starts /gone/coordinator, and there is no such program",
			"coordinator setup claude-code --project --workspace DIR/shop", "",
		}, {
			"an entry starts another command of the coordinator", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["serve"]`)
			},
			"hosts", doctor.Problem, "Cursor: the entry browser-coordinator in DIR/home/.cursor/mcp.json starts " +
				"coordinator serve, which is not its MCP server.", "coordinator setup cursor --user", "",
		}, {
			"an entry has another program", func(p *patient) {
				p.entry("shop/.mcp.json", `"command": "/bin/sh", "args": ["-c", "true"]`)
			},
			"hosts", doctor.Warning, "Claude Code: the entry browser-coordinator in DIR/shop/.mcp.json starts /bin/sh " +
				"-c true. This is not from the coordinator: /bin/sh -c true.", "remove it first", "",
		}, {
			"an entry has a wrong argument", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["mcp", "--caps", "x"]`)
			},
			"hosts", doctor.Problem, "Cursor: the entry browser-coordinator in DIR/home/.cursor/mcp.json does not " +
				"work: --caps: there are no tools ", "correct DIR/home/.cursor/mcp.json", "",
		}, {
			"an entry has a wrong variable", func(p *patient) {
				p.entry("shop/.mcp.json", `"command": "coordinator", "args": ["mcp"], "env": {"BROWSER_COORDINATOR_CAPS": "x"}`)
			},
			"hosts", doctor.Problem, "Claude Code: the entry browser-coordinator in DIR/shop/.mcp.json does not work: " +
				"$BROWSER_COORDINATOR_CAPS: there are no tools ", "correct DIR/shop/.mcp.json", "",
		}, {
			"an entry's variable names a browser that is gone", func(p *patient) {
				p.entry("home/.cursor/mcp.json",
					`"command": "coordinator", "env": {"BROWSER_COORDINATOR_BROWSER": "/gone/browser"}`)
			},
			"hosts", doctor.Problem, "does not work: its variable BROWSER_COORDINATOR_BROWSER: ",
			"correct DIR/home/.cursor/mcp.json", "",
		}, {
			"an entry needs a display", func(p *patient) {
				p.entry("shop/.mcp.json", `"command": "coordinator", "args": ["mcp", "--headed"]`)
			},
			"hosts", doctor.Problem, "does not work: it has --headed, and there is no display.",
			"correct DIR/shop/.mcp.json", "",
		}, {
			"an entry's display is gone", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["mcp", "--headless=false"], `+
					`"env": {"DISPLAY": ":32101"}`)
			},
			"hosts", doctor.Warning, "This is not from the coordinator: DISPLAY=:32101", "remove it first", "",
		}, {
			"an entry's grid has no address", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"command": "coordinator", "env": {"BROWSER_COORDINATOR_GRID": "planted x"}`)
			},
			"hosts", doctor.Problem, "does not work: $BROWSER_COORDINATOR_GRID", "correct DIR/home/.cursor/mcp.json", "",
		}, {
			"an entry attaches to nothing", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"command": "coordinator", "env": {"BROWSER_COORDINATOR_ATTACH": "chromee"}`)
			},
			"hosts", doctor.Problem, "does not work: $BROWSER_COORDINATOR_ATTACH", "correct DIR/home/.cursor/mcp.json", "",
		}, {
			"an entry's headers are none", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"command": "coordinator", "env": {"BROWSER_COORDINATOR_HEADERS": "planted", `+
					`"BROWSER_COORDINATOR_ATTACH": "http://127.0.0.1:1"}`)
			},
			"hosts", doctor.Problem, "does not work: $BROWSER_COORDINATOR_HEADERS", "correct DIR/home/.cursor/mcp.json", "",
		}, {
			"an entry's browser is another program", func(p *patient) {
				p.entry("home/.cursor/mcp.json",
					`"command": "coordinator", "env": {"BROWSER_COORDINATOR_BROWSER": "/bin/true"}`)
			},
			"hosts", doctor.Problem, "its variable BROWSER_COORDINATOR_BROWSER: /bin/true is no browser",
			"correct DIR/home/.cursor/mcp.json", "",
		}, {
			"an entry's flag names another program", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["mcp", "--executable=/bin/true"]`)
			},
			"hosts", doctor.Problem, "its --executable: /bin/true is no browser", "correct DIR/home/.cursor/mcp.json", "",
		}, {
			"the variable names another program", func(p *patient) {
				p.env = append(p.env, "BROWSER_COORDINATOR_BROWSER=/bin/true")
			},
			"browser", doctor.Problem, "/bin/true is no browser", "unset BROWSER_COORDINATOR_BROWSER", "",
		}, {
			"a variable of the shell ends the program", func(p *patient) {
				p.env = append(p.env, "BROWSER_COORDINATOR_CAPS=x")
			},
			"config", doctor.Problem, "started with the variables of this shell: $BROWSER_COORDINATOR_CAPS", "unset it", "",
		}, {
			"nobody listens where an entry connects to", func(p *patient) {
				p.entry("home/.cursor/mcp.json", `"url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer planted"}`)
			},
			"hosts", doctor.Problem, "no program serves at http://127.0.0.1:1/mcp", "correct DIR/home/.cursor/mcp.json", "",
		}, {
			"the display is gone", func(p *patient) { p.env = append(p.env, "DISPLAY=:32101") },
			"display", doctor.Warning, "No browser can show a window: DISPLAY is :32101, where no display is.",
			"set DISPLAY to the display that you see, or unset it", "",
		}, {
			"a host's file is broken", func(p *patient) {
				p.write("home/.gemini/settings.json", "{\n\"key\": sk-planted}", 0o644)
			},
			"hosts", doctor.Problem, "Gemini CLI may start none of the servers in DIR/home/.gemini/settings.json: it is not " +
				"valid JSON: line 2, column", "correct DIR/home/.gemini/settings.json", "",
		}, {
			"others may enter the directory of sockets",
			func(p *patient) { p.make("data/browser-coordinator-mcp", 0o777) },
			"sockets", doctor.Problem, "DIR/data/browser-coordinator-mcp is open to other users (mode 0777).",
			"chmod 700 DIR/data/browser-coordinator-mcp",
			"Set the mode 0700 of DIR/data/browser-coordinator-mcp.",
		}, {
			"others may enter the directory of tokens", func(p *patient) {
				p.serve()
				p.make("state/browser-coordinator-mcp", 0o755)
			},
			"state", doctor.Problem, "is open to other users (mode 0755).",
			"chmod 700 DIR/state/browser-coordinator-mcp",
			"Set the mode 0700 of DIR/state/browser-coordinator-mcp.",
		}, {
			"an entry is turned off", func(p *patient) {
				p.write("home/.codex/config.toml",
					"[mcp_servers.browser-coordinator]\ncommand = 'coordinator'\nargs = ['mcp']\nenabled = false\n",
					0o644)
			},
			"hosts", doctor.Warning, "Codex: the entry browser-coordinator in DIR/home/.codex/config.toml is turned " +
				"off.", "turn the server on in Codex", "",
		}, {
			"there is a file in place of the state",
			func(p *patient) { p.write("state/browser-coordinator-mcp", "", 0o600) },
			"state", doctor.Problem, "is a regular file, not a folder", "mv -n DIR/state/browser-coordinator-mcp ", "",
		}, {
			"there is no home folder", func(p *patient) { p.env = append(p.env, "HOME=", "XDG_DATA_HOME=") },
			"sockets", doctor.Problem, "neither XDG_DATA_HOME nor HOME is an absolute path",
			"set HOME to your home folder", "",
		}, {
			"there is no place for state", func(p *patient) { p.env = append(p.env, "HOME=", "XDG_STATE_HOME=") },
			"state", doctor.Problem, "neither XDG_STATE_HOME nor HOME is an absolute path",
			"set HOME to your home folder", "",
		}, {
			"a file is in the way to the state", func(p *patient) {
				p.write("file", "", 0o600)
				p.env = append(p.env, "XDG_STATE_HOME="+p.path("file"))
			},
			"state", doctor.Problem, "cannot be made", "set XDG_STATE_HOME to a folder that you can write to", "",
		}, {
			"the path is too long for sockets", func(p *patient) {
				p.env = append(p.env, "XDG_DATA_HOME="+p.path(strings.Repeat("d", 100)))
			},
			"sockets", doctor.Warning, "is too long for the path of a socket",
			"set XDG_DATA_HOME to a folder with a shorter path", "",
		}, {
			"the short directory is gone", func(p *patient) {
				data := strings.Repeat("d", 100)
				p.write(data+"/browser-coordinator-mcp/.short", "/tmp/bc-gone\n", 0o600)
				p.env = append(p.env, "XDG_DATA_HOME="+p.path(data))
			},
			"sockets", doctor.Warning, "cannot be used: ", "rm DIR/",
			"Removed DIR/" + strings.Repeat("d", 100) + "/browser-coordinator-mcp/.short. Run the command “Developer: " +
				"Reload Window” in open windows.",
		}, {
			"others may enter a directory with a short one", func(p *patient) {
				data := strings.Repeat("d", 100)
				p.write(data+"/browser-coordinator-mcp/.short", p.make("short", 0o700)+"\n", 0o600)
				p.make(data+"/browser-coordinator-mcp", 0o755)
				p.env = append(p.env, "XDG_DATA_HOME="+p.path(data))
			},
			"sockets", doctor.Problem, "/browser-coordinator-mcp is open to other users (mode 0755).", "chmod 700 DIR/d",
			"Set the mode 0700 of DIR/" + strings.Repeat("d", 100) + "/browser-coordinator-mcp.",
		}, {
			"others may enter the short directory", func(p *patient) {
				data := strings.Repeat("d", 100)
				p.write(data+"/browser-coordinator-mcp/.short", p.make("short", 0o755)+"\n", 0o600)
				p.env = append(p.env, "XDG_DATA_HOME="+p.path(data))
			},
			"sockets", doctor.Problem, "DIR/short is open to other users (mode 0755).", "chmod 700 DIR/short",
			"Set the mode 0700 of DIR/short.",
		}, {
			"a killed window has left its socket", func(p *patient) { p.deadSocket() },
			"windows", doctor.Warning, "1 socket is without a window, as a killed one leaves: DIR/data/",
			"coordinator probe",
			"Deleted DIR/data/browser-coordinator-mcp/ipc-0123456789abcdef.sock.",
		}, {
			"a file has the name of a socket", func(p *patient) {
				p.write("data/browser-coordinator-mcp/ipc-0123456789abcdef.sock", "mine", 0o600)
			},
			"windows", doctor.Problem, "is something else: refuse DIR/data/", "move it elsewhere", "",
		}, {
			"the window has another folder", func(p *patient) {
				p.window("0.1.0", nil)
				p.folder = p.make("other", 0o755)
			},
			"workspace", doctor.Warning, "No open window has the folder DIR/other: an agent there gets a private " +
				"browser.", "open DIR/other in VS Code, or run: coordinator window --workspace DIR/other", "",
		}, {
			"two windows have the folder", func(p *patient) {
				p.window("0.1.0", nil)
				p.window("0.1.0", nil)
			},
			"workspace", doctor.Warning, "Several windows fit DIR/shop", "close all but one", "",
		}, {
			"the variable names a folder that is gone",
			func(p *patient) { p.env = append(p.env, "BROWSER_COORDINATOR_WORKSPACE=/gone") },
			"workspace", doctor.Problem, "$BROWSER_COORDINATOR_WORKSPACE is /gone, which does not exist",
			"unset BROWSER_COORDINATOR_WORKSPACE", "",
		}, {
			"another program has the port", func(p *patient) {
				ln, err := net.Listen("tcp", "127.0.0.1:"+p.serve())
				if err != nil {
					p.t.Fatal(err)
				}
				go http.Serve(ln, http.NotFoundHandler()) // ends with the listener
				p.t.Cleanup(func() { ln.Close() })
			},
			"endpoints", doctor.Problem, "of DIR/shop is taken by another program", "end that program (`lsof -i :", "",
		}, {
			"a folder is gone", func(p *patient) {
				p.serve()
				gone := p.folder
				p.folder = p.make("other", 0o755)
				if err := os.RemoveAll(gone); err != nil {
					p.t.Fatal(err)
				}
			},
			"endpoints", doctor.Warning, "of a folder that no longer exists are kept: DIR/shop.", "coordinator doctor --fix",
			"Removed the port and the token of DIR/shop, which no longer exists.",
		}, {
			"the browser that is named is not there", func(p *patient) {
				p.env = append(p.env, "BROWSER_COORDINATOR_BROWSER=/no/such/browser")
			},
			"browser", doctor.Problem, "/no/such/browser, which $BROWSER_COORDINATOR_BROWSER names, does not exist.",
			"unset BROWSER_COORDINATOR_BROWSER", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			c.breakIt(p)
			here := func(text string) string { return strings.ReplaceAll(text, "DIR", p.dir) }
			isFound := func(report doctor.Report) bool {
				for _, f := range findings(report, c.check) {
					if f.Verdict == c.verdict && strings.Contains(f.Text, here(c.text)) && strings.Contains(f.Fix, here(c.fix)) {
						return true
					}
				}
				return false
			}
			report := p.examine()
			if !isFound(report) {
				t.Fatalf("%s has %+v", c.check, findings(report, c.check))
			}
			if text, _ := json.Marshal(report); bytes.Contains(text, []byte("planted")) {
				t.Errorf("the report has a secret: %s", text)
			}
			if report = p.examine("--fix"); isFound(report) != (c.fixed == "") {
				t.Errorf("--fix leaves %+v", findings(report, c.check))
			}
			var done []string
			for _, r := range report.Repairs {
				done = append(done, r.Done+r.Error)
			}
			if got := strings.Join(done, "|"); got != here(c.fixed) {
				t.Errorf("--fix reports %q", got)
			}
		})
	}
}

// TestDoctorRunsNoProgramOfTheFolder: a command with a variable of the host is no path in
// the folder.
func TestDoctorRunsNoProgramOfTheFolder(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.entry("home/.cursor/mcp.json", `"command": "${workspaceFolder}/coordinator", "args": ["mcp"]`)
	p.write("shop/${workspaceFolder}/coordinator", "#!/bin/sh\ntouch "+p.path("was-run")+"\necho coordinator 0.1.0\n",
		0o755)
	p.entry("shop/.mcp.json", `"command": "./coordinator", "args": ["mcp"]`)
	p.write("shop/coordinator", "#!/bin/sh\ntouch "+p.path("was-run")+"\necho coordinator 0.1.0\n", 0o755)
	found := findings(p.examine(), "hosts")
	if len(found) != 2 || found[0].Verdict != doctor.Warning || found[1].Verdict != doctor.Warning {
		t.Errorf("hosts has %+v", found)
	}
	if _, err := os.Stat(p.path("was-run")); err == nil {
		t.Error("a program of the folder was run")
	}
}

// TestDoctorTriesEntriesAlone: the program that is started as an entry says sees no window of
// the user, and so deletes no socket.
func TestDoctorTriesEntriesAlone(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	dead := p.deadSocketIn("home/.local/share")
	p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["mcp"]`)
	if found := findings(p.examine(), "hosts"); len(found) != 1 || !strings.Contains(found[0].Text, "starts") {
		t.Errorf("hosts has %+v", found)
	}
	if _, err := os.Lstat(dead); err != nil {
		t.Error(err)
	}
}

// TestDoctorTriesNoVariables: what only the host replaces would be read literally, as a wrong
// folder or a wrong value.
func TestDoctorTriesNoVariables(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"{env:SHOP}", "{file:./shop.txt}", "${SHOP}", "${workspaceFolder}", "$SHOP", "%SHOP%"} {
		p := newPatient(t)
		p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["mcp", "--caps", "`+value+`"]`)
		found := findings(p.examine(), "hosts")
		if len(found) != 1 || found[0].Verdict != doctor.OK ||
			!strings.Contains(found[0].Text, "It was not tried: its "+value+" has a variable that only Cursor replaces.") {
			t.Errorf("%s: hosts has %+v", value, found)
		}
	}
}

// TestDoctorOfAListener: the entry that docs/http.md has is tried with its token, and `setup` keeps it.
func TestDoctorOfAListener(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	server := startCommand(t, p.command("mcp", "--listen", "127.0.0.1:0"))
	token, err := os.ReadFile(p.path("state/browser-coordinator-mcp/mcp-token"))
	if err != nil {
		t.Fatal(err)
	}
	for secret, works := range map[string]bool{strings.TrimSpace(string(token)): true, "planted": false} {
		const file = "shop/.mcp.json"
		p.entry(file, `"type": "http", "url": "`+server.first+`", "headers": {"Authorization": "Bearer `+secret+`"}`)
		before, _ := os.ReadFile(p.path(file))
		f := findings(p.examine(), "hosts")
		if len(f) != 1 || (f[0].Verdict == doctor.OK) != works || strings.Contains(f[0].Text+f[0].Fix, secret) ||
			strings.Contains(f[0].Fix, "coordinator setup") {
			t.Errorf("works: %v: hosts has %+v", works, f)
		}
		for _, args := range [][]string{{"setup"}, {"setup", "claude-code", "--yes"},
			{"setup", "claude-code", "--yes", "--json"}} {
			out, _ := p.command(args...).CombinedOutput()
			if strings.Contains(string(out), secret) || !strings.Contains(string(out), "refuses its token") == !works &&
				len(args) < 4 {
				t.Errorf("%v, works: %v: %s", args, works, out)
			}
		}
		if after, _ := os.ReadFile(p.path(file)); string(after) != string(before) {
			t.Errorf("the entry has become %s", after)
		}
	}
}

// TestSetupTriesEntries: the list of `setup` says what an entry really does.
func TestSetupTriesEntries(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	for members, want := range map[string]string{
		`"command": "coordinator"`:                                                      "works",
		`"command": "coordinator", "args": ["mcp", "--headed"]`:                         "there is no display",
		`"command": "coordinator", "env": {"BROWSER_COORDINATOR_CAPS": "x"}`:            "there are no tools",
		`"command": "coordinator", "env": {"BROWSER_COORDINATOR_BROWSER": "/bin/true"}`: "/bin/true is no browser",
		`"command": "coordinator", "args": ["mcp", "--allowed-origins", "http://x y"]`:  "--allowed-origins",
	} {
		p.entry("home/.cursor/mcp.json", members)
		out, err := p.command("setup").Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", members, err, out)
		}
		out, _ = p.command("setup", "--json").Output()
		if strings.Contains(string(out), `"works": true`) != (want == "works") {
			t.Errorf("%s: %s", members, out)
		}
	}
}

// TestSetupsNextStep: the output says what to do after what was done.
func TestSetupsNextStep(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"cursor", "--yes", "--json"}, "Turn the server on"},
		{[]string{"cursor", "--yes", "--remove", "--json"}, `"next": "End sessions of Cursor that run`},
		{[]string{"cursor", "--yes", "--remove", "--json"}, "has no entry of the coordinator"},
		{[]string{"cursor", "--yes", "--remove"}, "has no entry of the coordinator"},
		{[]string{"jetbrains", "--user"}, `"browser-coordinator": {`},
		{[]string{"jetbrains", "--project", "--yes"}, `"browser-coordinator": {`},
	} {
		if out, err := p.command(append([]string{"setup"}, c.args...)...).CombinedOutput(); err != nil ||
			!strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}

// TestDoctorWraps: in a narrow terminal each line fits, but for words that are longer.
func TestDoctorWraps(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{40, 60, 80} {
		p := newPatient(t)
		p.entry("home/.cursor/mcp.json", `"command": "coordinator", "args": ["mcp", "--headed"]`)
		display, _ := openTerminal(t, p.command("doctor"), uint16(columns))
		display.await(t, "1 problem, ")
		for line := range strings.Lines(display.String()) {
			line = strings.TrimRight(colours.ReplaceAllString(line, ""), "\r\n")
			rest := strings.TrimLeft(line, " ")
			if utf8.RuneCountInString(line) > columns && strings.Contains(rest, " ") && !strings.HasPrefix(rest, "✗") {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestDoctorOfABusyWindow: a window that does not respond is open all the same.
func TestDoctorOfABusyWindow(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	file := filepath.Join(p.make("data/browser-coordinator-mcp", 0o700), "ipc-0123456789abcdef.sock")
	ln, err := net.Listen("unix", file)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := findings(p.examine(), "windows"); len(found) != 1 || !strings.Contains(found[0].Text, "does not respond") {
		t.Errorf("windows has %+v", found)
	}
}

// TestDoctorNamesTheOwner: a served address has an owner, also one that does not respond.
func TestDoctorNamesTheOwner(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	server := startCommand(t, p.command("serve"))
	want := fmt.Sprintf("served by coordinator serve (pid %d).", server.cmd.Process.Pid)
	if f := findings(p.examine(), "endpoints"); len(f) != 1 || f[0].Verdict != doctor.OK ||
		!strings.Contains(f[0].Text, want) {
		t.Errorf("there is no %q in %+v", want, f)
	}
	if err := server.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer server.cmd.Process.Signal(syscall.SIGCONT)
	if f := findings(p.examine(), "endpoints"); len(f) != 1 || f[0].Verdict != doctor.Problem ||
		!strings.Contains(f[0].Text, "does not respond") {
		t.Errorf("it does not report that the owner does not respond: %+v", f)
	}
}

// TestDoctorsBundle: nothing in it is secret or personal.
func TestDoctorsBundle(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.serve()
	p.window("0.1.0", nil, "planted title", "ws://127.0.0.1:9/planted-path")
	p.env = append(p.env, "USER=planted-user", "BROWSER_COORDINATOR_BROWSER="+p.path("home/planted-user/")+
		"https://planted.example/x", "XDG_STATE_HOME="+p.path("state"))
	p.write("home/.codex/config.toml", "[mcp_servers.x]\nenv = { KEY = sk-planted }\n", 0o600)
	p.entry("home/.cursor/mcp.json", `"command": "coordinator", `+
		`"args": ["mcp", "--attach", "planted", "ghp_planted", "pass=planted"], "env": {"KEY": "planted"}`)
	token := onlyToken(t, p.path("state"))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "TERM_PROGRAM="+host+" "+token)
	p.examine("--bundle", p.path("report.json"))
	text, err := os.ReadFile(p.path("report.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"planted", token, p.path("home")} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the bundle has %q:\n%s", secret, text)
		}
	}
	for _, want := range []string{`"TERM_PROGRAM": "HOST SECRET"`, "~/.codex/config.toml", "1 shared page",
		`"version": "0.1.0`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the bundle has no %q:\n%s", want, text)
		}
	}
	if info, err := os.Stat(p.path("report.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}

	again := p.command("doctor", "--bundle", p.path("report.json"))
	out, err := again.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("it exists already; name a new file")) {
		t.Errorf("it is written again: %v\n%s", err, out)
	}
}
